// What the page says of models that are compared: only what is known. Expected values come from the interface.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.js";
import { JUDGE, serve } from "./server.js";
import { api, quoted, visit } from "./served.js";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** Runs the steps on the page of a server with further models. */
function withServer(name, extra, steps) {
  test(name, async () => {
    const server = await serve(extra);
    try {
      const page = await visit(browser, server.address);
      await steps(page, server);
      assert.deepEqual(page.problems, []);
      await page.context().close();
    } finally {
      await server.stop();
    }
  });
}

const judged = (server, document, grade) => api(server, "judgments", {}, {
  method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${JUDGE}` },
  body: JSON.stringify({ query: "q2", document, judge: "Ada", grade }),
});

async function leaderboard(page, server) {
  await page.goto("about:blank");
  await page.goto(`${server.address}/#leaderboard`);
  await page.locator(".board").waitFor();
}

withServer("a network is shown with its values and without invented contributions", ["--model", "network={network.json}"], async (page, server) => {
  await page.goto(`${server.address}/#search?q=coast+walk&a=network`);
  const hit = page.locator(".hit").first();
  await hit.getByText("Why is it here?").click();
  await hit.getByText("is not a sum over features").waitFor();
  assert.doesNotMatch(await hit.textContent(), /SHAP|sum0/);
  assert.equal(await hit.locator(".shap").count(), 0);
  const { hits: [{ explain: { features } }] } = await api(server, "search", { q: "coast walk", model: "network", explain: 1 });
  assert.ok(features.every(({ contribution }) => contribution === null));
  await hit.getByText(`All ${features.length} features and their values`).click();
  const rows = await hit.locator(".raw tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map(([name]) => name), features.map(({ name }) => name));
  assert.ok(rows.every((row) => row.length === 2));
});

withServer("models that are equal are called equal", ["--model", "twin={trees.json}"], async (page, server) => {
  // A document that the words of the query do not match: no model finds it.
  await judged(server, "astral", 3);
  await leaderboard(page, server);
  await page.getByText("No model is better than another by NDCG@10: 0.0000.").waitFor();
  await page.getByText(/Only \d+ % of the documents in the top 10 of the models are judged/).waitFor();
  assert.equal(await page.getByText("best", { exact: true }).count(), 0);
  assert.equal(await page.locator(".queries strong").count(), 0);
  const { hits } = await api(server, "search", { q: "lighthouse Wexholm", model: "trees", log: 0 });
  await judged(server, hits[0].id, 3);
  await leaderboard(page, server);
  const { models } = await api(server, "leaderboard");
  const best = Math.max(...models.map(({ metrics }) => metrics["ndcg@10"].mean));
  const first = models.filter(({ metrics }) => metrics["ndcg@10"].mean === best).map(({ name }) => name);
  assert.ok(first.includes("trees") && first.includes("twin"), "the same model twice is equally good");
  const all = first.length === models.length;
  await page.getByText(all ? /^All models are equally good by/ : / are equally good by NDCG@10/).waitFor();
  assert.equal(await page.getByText("best", { exact: true }).count(), 0);
});

withServer("on a phone, headings have one line, and options of the command line are not broken", [], async (page, server) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await judged(server, "astral", 3);
  await leaderboard(page, server);
  const lines = await page.locator(".board thead").evaluate((head) => head.offsetHeight / Number.parseFloat(getComputedStyle(head).lineHeight));
  assert.ok(lines < 2, `the heading has the height of ${lines} lines`);
  await api(server, "search", { q: "lighthouse" });
  await page.goto(`${server.address}/#live`);
  const option = page.getByText("--interleave A,B");
  await option.waitFor();
  assert.equal(await option.evaluate((code) => code.getClientRects().length), 1);
});

withServer("lists side by side are no searches of a user", [], async (page, server) => {
  await page.goto(`${server.address}/#search?q=lighthouse&a=trees&b=linear`);
  await page.locator(".lists.two .hit .title").first().click();
  assert.deepEqual((await api(server, "live")).rankers, []);
  await page.getByLabel("Compare with").selectOption("");
  await page.getByText("documents, ranked by trees.").waitFor();
  assert.deepEqual((await api(server, "live")).rankers.map(({ ranker, sessions }) => [ranker, sessions]), [["trees@1", 1]]);
});

withServer("documents that BM25 alone has placed are not said to be of a model", ["--depth", "3"], async (page, server) => {
  await page.goto(`${server.address}/#search?q=lighthouse&a=trees&k=5`);
  await page.getByText("documents, ranked by trees.").waitFor();
  const below = await page.locator(".hit").evaluateAll((hits) => hits.map((hit) => hit.textContent.includes("below the depth of the model")));
  assert.deepEqual(below, [false, false, false, true, true]);
  await page.locator(".hit").nth(3).getByText("Why is it here?").click();
  await page.getByText("BM25 alone gives this document its place").waitFor();
  await page.getByLabel("Model").selectOption("bm25");
  await page.getByText("documents, ranked by bm25.").waitFor();
  assert.equal(await page.getByText("below the depth of the model").count(), 0);
});

withServer("a document that an interleaved list lacks is explained by both models", ["--interleave", "trees,bm25"], async (page, server) => {
  await page.goto(`${server.address}/#search?q=lighthouse&k=5`);
  await page.getByText("documents, ranked by trees+bm25. The two rankings are interleaved").waitFor();
  assert.match(await page.textContent(".listhead"), /trees@1 and bm25, /);
  const shown = await page.locator(".hit").evaluateAll((hits) => hits.map((hit) => hit.dataset.id));
  const lists = await Promise.all(["trees", "bm25"].map((model) => api(server, "search", { q: "lighthouse", k: 5, model, log: 0 })));
  const missing = lists.flatMap(({ hits }) => hits.map(({ id }) => id)).find((id) => !shown.includes(id));
  assert.ok(missing, "the models must differ for this test to say something");
  await page.getByText("Why is a document not here?").click();
  const ask = async (id) => {
    await page.getByLabel("Id of the document").fill(id);
    await page.keyboard.press("Enter");
  };
  await ask(missing);
  await page.locator(".whynot").getByText(quoted(`\`${missing}\` is not in the list`)).waitFor();
  assert.match(await page.locator(".whynot p").textContent(), /“trees”: .*“bm25”: /);
  await ask(shown[3]);
  await page.locator(".whynot").getByText("is shown, at rank 4.").waitFor();
});
