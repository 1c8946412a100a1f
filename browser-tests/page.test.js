// The page of `rankwise serve`, used as people would use it. Expected values come from the interface, not from the page.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./browser.js";
import { ADMIN, HOSTILE, JUDGE, serve } from "./server.js";
import { api, openIn, overflow, press, quoted, signIn, taskShown, visit } from "./served.js";

const VIEWS = ["search", "judge", "leaderboard", "live", "models"];
const PHONE = { viewport: { width: 360, height: 740 } };
const REFUSED = /Failed to load resource: the server responded with a status of 4/;
const UNREACHABLE = /Failed to load resource: net::ERR_/;

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await serve();
});
after(async () => {
  await browser.close();
  await server.stop();
});

/** Opens the page, runs the steps, and expects that nothing went wrong on the way. */
function onPage(name, options, steps) {
  test(name, async () => {
    const page = await visit(browser, server.address, options);
    await steps(page);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
}

/** A server of its own for steps that depend on everything that was judged or clicked before. */
function onOwnServer(name, extra, steps) {
  test(name, async () => {
    const own = await serve(extra);
    try {
      const page = await visit(browser, own.address);
      await steps(page, own);
      assert.deepEqual(page.problems, []);
      await page.context().close();
    } finally {
      await own.stop();
    }
  });
}

const searched = (parameters) => api(server, "search", { k: 10, ...parameters });
const judgmentsOf = (from) => api(from, "judgments", {}, { headers: { authorization: `Bearer ${JUDGE}` } });
const idsShown = (page, list = 0) => page.locator(".list").nth(list).locator(".hit").evaluateAll((hits) => hits.map((hit) => hit.dataset.id));
const idsOf = ({ hits }) => hits.map(({ id }) => id);

async function type(page, text) {
  await page.getByLabel("Query").fill(text);
  await page.keyboard.press("Enter");
}

// ---- Searching ----

onPage("a search shows the documents in the order of the model, and the address keeps it", {}, async (page) => {
  await type(page, "lighthouse");
  await page.locator(".hit").first().waitFor();
  const expected = await searched({ q: "lighthouse", model: "trees" });
  assert.deepEqual(await idsShown(page), idsOf(expected));
  assert.equal(await page.textContent(".hit .facts b"), expected.hits[0].score.toFixed(4).replace("-", "−"));
  assert.equal(await page.title(), "lighthouse · Rankwise");
  await page.getByRole("combobox", { name: "Results" }).selectOption("5");
  await page.locator(".hit").nth(5).waitFor({ state: "detached" });
  await page.getByLabel("Model").selectOption("bm25");
  await page.getByText("5 documents, ranked by bm25.").waitFor();
  const shared = page.url();
  await page.goBack();
  await page.getByText("5 documents, ranked by trees.").waitFor();
  const other = await openIn(page.context(), server.address, new URL(shared).hash);
  await other.getByText("5 documents, ranked by bm25.").waitFor();
  assert.deepEqual(await idsShown(other), idsOf(await searched({ q: "lighthouse", model: "bm25", k: 5 })));
  assert.equal(await other.getByLabel("Query").inputValue(), "lighthouse");
  assert.equal(await other.getByLabel("Model").inputValue(), "bm25");
  assert.deepEqual(other.problems, []);
});

onPage("two models side by side: what moved is marked with how far", { hash: "#search?q=lighthouse&a=trees&b=linear" }, async (page) => {
  await page.locator(".lists.two").waitFor();
  const [a, b] = [await searched({ q: "lighthouse", model: "trees" }), await searched({ q: "lighthouse", model: "linear" })];
  assert.deepEqual([await idsShown(page, 0), await idsShown(page, 1)], [idsOf(a), idsOf(b)]);
  const expected = idsOf(b).map((id, at) => {
    const up = idsOf(a).indexOf(id) - at;
    if (!idsOf(a).includes(id)) return "new";
    return up === 0 ? "=" : up > 0 ? `↑ ${up}` : `↓ ${-up}`;
  });
  assert.ok(new Set(expected).size > 2, "the models must differ for this test to say something");
  const marks = page.locator(".list").nth(1).locator(".move [aria-hidden]");
  assert.deepEqual(await marks.allTextContents(), expected);
  const gone = idsOf(a).filter((id) => !idsOf(b).includes(id));
  assert.equal(await page.locator(".list").first().locator(".move.gone").count(), gone.length);
  const moved = expected.filter((mark) => /[↑↓]/.test(mark)).length;
  const added = expected.filter((mark) => mark === "new").length;
  await page.getByText(`Compared with trees, ${moved} of the 10 documents of linear moved and ${added} are new.`).waitFor();
  await page.getByLabel("Compare with").selectOption("");
  await page.locator(".lists.two").waitFor({ state: "detached" });
});

onPage("markup in documents stays text", { hash: "#search?q=zanzibarite" }, async (page) => {
  const title = page.getByRole("button", { name: HOSTILE });
  await title.click();
  assert.equal(await title.textContent(), HOSTILE);
  assert.match(await page.locator(".hit", { has: title }).locator(".whole").textContent(), /<script>alert\(2\)<\/script>/);
  assert.equal(await page.locator("main img, main script, .hit b b").count(), 0);
  await page.locator('.hit[data-id="x/\\"><b>y"]').waitFor();
  await type(page, HOSTILE);
  await page.getByText(/No document matches|documents?, ranked by/).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
});

onPage("highlighted words are right behind characters that take two places in a string", { hash: "#search?q=quuxite" }, async (page) => {
  await page.locator("mark").first().waitFor();
  assert.deepEqual(await page.locator(".snippet mark").allTextContents(), ["quuxite"]);
  assert.match(await page.textContent(".snippet"), /^😀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 é before/);
});

onPage("nothing typed, nothing found, a mistake in the address, a server that is away or slow: each is said in a sentence", {}, async (page) => {
  page.expect(REFUSED);
  page.expect(UNREACHABLE);
  await page.getByText("Type what you are looking for.").waitFor();
  await page.getByRole("link", { name: "lighthouse Wexholm" }).waitFor();
  await type(page, "qwertzuiop");
  await page.getByText("No document matches “qwertzuiop”.").waitFor();
  await page.goto(`${server.address}/#search?q=lighthouse&a=tree`);
  const { detail } = await (await fetch(`${server.address}/v1/search?q=lighthouse&model=tree`)).json();
  const said = await page.getByRole("alert").locator("p").textContent();
  assert.equal(said.slice(1), quoted(detail).slice(1));
  await page.route("**/search?*", (route) => route.abort());
  await page.getByLabel("Model").selectOption("trees");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/search?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("documents, ranked by trees.").waitFor();
  await page.route("**/search?*", (route) => setTimeout(() => route.continue(), 1500));
  await page.getByLabel("Model").selectOption("bm25");
  await page.getByText("Still searching.").waitFor();
  await page.getByText("documents, ranked by bm25.").waitFor();
  await page.getByLabel("Query").fill("");
  await page.keyboard.press("Enter");
  await page.getByText("Type what you are looking for.").waitFor();
});

// ---- Why ----

onPage("why is it here: contributions by size, which add up to the score, and the raw values", { hash: "#search?q=coast+walk&a=trees" }, async (page) => {
  const hit = page.locator(".hit").nth(1);
  await hit.getByText("Why is it here?").click();
  const { hits } = await searched({ q: "coast walk", model: "trees", explain: 1 });
  const { explain, score } = hits[1];
  const sorted = [...explain.features].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  const rows = await hit.locator(".shap tbody tr").evaluateAll((all) => all.map((row) => [row.cells[0].textContent, row.cells[2].textContent]));
  const number = (text) => Number(text.replace("−", "-"));
  assert.deepEqual(rows.slice(1, 11).map(([name]) => name), sorted.slice(0, 10).map(({ name }) => name));
  rows.slice(1, 11).forEach(([, text], at) => assert.ok(Math.abs(number(text) - sorted[at].contribution) < 6e-5));
  assert.equal(rows.at(-1)[0], "sum");
  const total = rows.slice(0, -1).reduce((sum, [, text]) => sum + number(text), 0);
  assert.ok(Math.abs(total - number(rows.at(-1)[1])) < 1e-3 && Math.abs(total - score) < 1e-3);
  const widths = await hit.locator(".shap rect").evaluateAll((bars) => bars.slice(0, 10).map((bar) => Number(bar.getAttribute("width"))));
  assert.ok(widths.every((width, at) => at === 0 || width <= widths[at - 1]));
  await hit.getByText(`All ${explain.features.length} features and their values`).click();
  assert.equal(await hit.locator(".raw tbody tr").count(), explain.features.length);
  assert.equal(number(await hit.locator(".raw tbody td").first().textContent()), Number(sorted[0].value.toPrecision(5)));
});

onPage("why is a document not here: the sentence of the server, for each model", { hash: "#search?q=lighthouse&a=trees&b=bm25" }, async (page) => {
  await page.locator(".lists.two").waitFor();
  await page.getByText("Why is a document not here?").click();
  const { hits } = await searched({ q: "lighthouse", model: "trees", k: 30 });
  for (const id of [hits[20].id, "hostile", "no such document"]) {
    await page.getByLabel("Id of the document").fill(id);
    await page.keyboard.press("Enter");
    for (const model of ["trees", "bm25"]) {
      const { why_not: why } = await searched({ q: "lighthouse", model, why_not: id });
      await page.locator(".whynot").getByText(`${model}: ${quoted(why.sentence)}`).waitFor();
    }
  }
});

// ---- Clicks ----

onOwnServer("opening a document is a click on the list that was shown, once; and the live view counts it by itself", [], async (page, own) => {
  await type(page, "lighthouse");
  const hit = page.locator(".hit").nth(2);
  const sent = page.waitForResponse("**/feedback");
  await hit.getByRole("button").click();
  assert.equal((await sent).status(), 200);
  await hit.getByRole("button").click();
  await hit.getByRole("button").click();
  const lines = (await readFile(path.join(own.directory, "clicks.jsonl"), "utf8")).trim().split("\n").map((line) => JSON.parse(line));
  const [shown, ...clicked] = lines;
  assert.equal(clicked.length, 1);
  assert.equal(clicked[0].session, shown.id);
  assert.deepEqual(clicked[0].clicks.map(({ doc }) => doc), [shown.shown[2]]);
  assert.equal(shown.shown[2], await hit.getAttribute("data-id"));
  await page.getByRole("link", { name: "Live" }).click();
  const clicks = page.locator(".board tbody tr", { hasText: "trees" }).locator("td").last();
  await page.waitForFunction(() => document.querySelector(".board tbody td:last-child")?.textContent === "1");
  await api(own, "feedback", {}, { method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ session: shown.id, clicks: [{ doc: shown.shown[0] }] }) });
  await page.waitForFunction(() => document.querySelector(".board tbody td:last-child")?.textContent === "2", null, { timeout: 10_000 });
  assert.equal(await clicks.textContent(), "2");
  await page.getByText("trees@1 by rank").click();
  const { rankers: [{ by_rank: ranks }] } = await api(own, "live");
  const drawn = await page.locator("details tbody tr").evaluateAll((rows) => rows.map((row) => [row.cells[0], row.cells[3], row.cells[4]].map((cell) => Number(cell.textContent))));
  assert.deepEqual(drawn, ranks.map(({ rank, shown: lists, clicked: opened }) => [rank, lists, opened]));
  assert.deepEqual(drawn.filter(([, , opened]) => opened > 0).map(([rank]) => rank), [1, 3]);
});

onOwnServer("the result of interleaving is the server's", ["--interleave", "trees,linear"], async (page, own) => {
  await type(page, "lighthouse");
  await page.getByText("documents, ranked by trees+linear.").waitFor();
  for (const at of [0, 3]) await page.locator(".hit .title").nth(at).click();
  await page.getByText("Why is it here?").first().click();
  await page.locator(".shap").waitFor();
  await page.getByRole("link", { name: "Live" }).click();
  await page.locator(".scoreline").waitFor();
  const { interleaving: [result] } = await api(own, "live");
  const counts = (await page.locator(".scoreline b").allTextContents()).map(Number);
  assert.deepEqual(counts, [result.wins[0], result.ties, result.wins[1]]);
  assert.match(await page.textContent(".numbers"), new RegExp(`${(100 * result.win_rate).toFixed(1)} %`));
});

onPage("the live view asks nothing while it is hidden or paused", { hash: "#live" }, async (page) => {
  let asked = 0;
  page.on("request", (request) => { asked += request.url().endsWith("/live") ? 1 : 0; });
  const hide = (hidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await page.getByText(/As of|keeps no log/).first().waitFor();
  await hide(true);
  await page.waitForTimeout(500);
  asked = 0;
  await page.waitForTimeout(3500);
  assert.equal(asked, 0);
  await hide(false);
  await page.waitForTimeout(500);
  assert.equal(asked, 1, "it is asked at once when it is seen again");
  await page.getByRole("button", { name: "Pause" }).click();
  asked = 0;
  await page.waitForTimeout(3500);
  assert.equal(asked, 0);
});

// ---- Judging ----

onOwnServer("judging by keys, with a note, undo and a reload in the middle; the leaderboard follows", [], async (page, own) => {
  page.expect(REFUSED);
  await page.getByRole("link", { name: "Leaderboard" }).click();
  await page.getByText("There is nothing to compare yet.").waitFor();
  await page.getByRole("link", { name: "Judge", exact: true }).click();
  await signIn(page, "Ada", "not-the-token-at-all");
  await page.getByText("The token is not valid.").waitFor();
  await signIn(page, "Ada", JUDGE);
  await page.locator(".document").waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(localStorage).filter((value) => value.includes("in-the-tests"))), []);
  const first = await taskShown(page);
  await page.keyboard.press("7");
  await page.getByText("Grades go from 0 to 3.").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("2 birds, 1 stone");
  await page.keyboard.press("Escape");
  await press(page, "3", "Exactly right");
  const second = await taskShown(page);
  assert.notEqual(second, first);
  await page.keyboard.press("n");
  await page.keyboard.type("perhaps");
  await page.keyboard.press("Enter");
  await press(page, "1", "Related");
  await page.reload();
  await page.locator(".document").waitFor();
  const third = await taskShown(page);
  assert.ok(third !== first && third !== second);
  await page.keyboard.press("u");
  await page.getByText("Taken back.").waitFor();
  assert.equal(await taskShown(page), second);
  assert.equal(await page.getByLabel("Note").inputValue(), "perhaps");
  assert.deepEqual((await judgmentsOf(own)).judgments.map(({ judge, grade, note }) => [judge, grade, note]), [["Ada", 3, "2 birds, 1 stone"]]);
  await press(page, "0", "Not relevant");
  assert.equal(await taskShown(page), third);
  assert.deepEqual((await judgmentsOf(own)).judgments.map(({ grade }) => grade), [3, 0]);
  await page.getByText("2 judged by you").waitFor();
  await page.keyboard.press("s");
  await page.getByText("Skipped.").waitFor();
  const fourth = await taskShown(page);
  assert.ok(![first, second, third].includes(fourth));
  await page.reload();
  await page.locator(".document").waitFor();
  assert.equal(await taskShown(page), fourth, "a reload stays at the document");
  await page.getByRole("link", { name: "Leaderboard" }).click();
  await page.locator(".board").waitFor();
  const board = await api(own, "leaderboard");
  const shown = await page.locator(".board tbody tr").evaluateAll((rows) => rows.map((row) => [row.cells[0].firstChild.textContent, row.cells[1].textContent]));
  const expected = board.models.map(({ name, metrics }) => [name, metrics["ndcg@10"].mean]).sort((a, b) => b[1] - a[1]);
  assert.deepEqual(shown, expected.map(([name, mean]) => [name, mean.toFixed(4)]));
  await page.getByText("2 judgments for 1 query, of which 1 has a relevant document").waitFor();
  const [query] = board.by_query;
  const row = page.locator(".queries tbody tr").first();
  assert.deepEqual((await row.locator("td").allTextContents()).sort(), Object.values(query.values).map((value) => value.toFixed(4)).sort());
  await row.getByRole("link", { name: query.text }).click();
  await page.getByRole("heading", { name: "Search" }).waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), query.text);
});

onOwnServer("the address that the server prints has the token, which does not stay there", [], async (page, own) => {
  // Another page first: the address of this one differs only behind the #.
  await page.goto("about:blank");
  await page.goto(`${own.address}/#judge?token=${JUDGE}`);
  await page.getByLabel("Your name").fill("Ada");
  assert.equal(await page.getByLabel("Token").inputValue(), JUDGE);
  assert.ok(!page.url().includes(JUDGE), page.url());
  await page.getByRole("button", { name: "Begin" }).click();
  await page.locator(".document").waitFor();
});

onOwnServer("a judge goes through everything, and the end is said", [], async (page, own) => {
  await page.goto(`${own.address}/#judge`);
  await signIn(page, "Grace", JUDGE);
  await page.locator(".document").waitFor();
  const skipped = await taskShown(page);
  await page.keyboard.press("s");
  await page.getByText("Skipped.").waitFor();
  const seen = new Set();
  while (await page.locator(".document").isVisible().catch(() => false) || seen.size === 0) {
    await page.locator(".document").waitFor();
    const task = await taskShown(page);
    assert.ok(!seen.has(task), `${task} is asked twice`);
    seen.add(task);
    const answered = page.waitForResponse("**/judge/next?*");
    await page.keyboard.press("2");
    await answered;
    await page.getByText("Saved: 2").waitFor();
    await page.waitForTimeout(30);
  }
  await page.getByText("That was the last one").waitFor();
  assert.equal([...seen].at(-1), skipped, "what was skipped comes last");
  assert.equal((await judgmentsOf(own)).total, seen.size);
  assert.ok([...seen].some((task) => task.endsWith(HOSTILE)), "the hostile document was among them");
  await page.getByText(`${seen.size} judged by you, 0 left.`).waitFor();
});

onOwnServer("a judgment that does not arrive is kept, survives a reload, and is sent once", [], async (page, own) => {
  page.expect(UNREACHABLE);
  await page.goto(`${own.address}/#judge`);
  await signIn(page, "Ada", JUDGE);
  await page.locator(".document").waitFor();
  await page.route("**/judgments", (route) => route.abort());
  await page.keyboard.press("2");
  await page.getByText("1 judgment is not saved yet").waitFor();
  assert.equal((await judgmentsOf(own)).total, 0);
  await page.unroute("**/judgments");
  await page.reload();
  await page.getByText("1 judged by you").waitFor();
  // This time the server gets it, but the acknowledgement is lost.
  await page.route("**/judgments", async (route) => {
    if (route.request().method() === "POST") await route.fetch();
    await route.abort();
  });
  await page.keyboard.press("3");
  await page.getByText("1 judgment is not saved yet").waitFor();
  await page.unroute("**/judgments");
  await page.reload();
  await page.getByText("2 judged by you").waitFor();
  const lines = (await readFile(path.join(own.directory, "judgments.csv"), "utf8")).trim().split("\n");
  assert.equal(lines.length, 3, "the header and each judgment once");
  assert.deepEqual((await judgmentsOf(own)).judgments.map(({ grade }) => grade), [2, 3]);
  assert.equal(await page.evaluate(() => localStorage.getItem("rankwise-judgments")), "[]");
});

onOwnServer("more judges than the cap are not asked", ["--judges", "1"], async (page, own) => {
  await page.goto(`${own.address}/#judge`);
  await signIn(page, "Ada", JUDGE);
  await page.locator(".document").waitFor();
  await page.getByText("Guidelines").click();
  await page.getByText("goes to 1 judge at most").waitFor();
  const first = await taskShown(page);
  await press(page, "1", "Related");
  const other = await visit(browser, own.address, { hash: "#judge" });
  await signIn(other, "Grace", JUDGE);
  await other.locator(".document").waitFor();
  assert.notEqual(await taskShown(other), first);
  assert.notEqual(await taskShown(other), await taskShown(page), "what Ada looks at is kept for her");
  assert.deepEqual(other.problems, []);
  await other.context().close();
});

// ---- Models ----

onOwnServer("models are changed with the token of an administrator only", [], async (page, own) => {
  page.expect(REFUSED);
  await page.getByRole("link", { name: "Models" }).click();
  const row = (name) => page.locator(".board tbody tr", { has: page.locator("th", { hasText: name }) });
  await row("trees").getByText("default").waitFor();
  assert.equal(await page.getByRole("button", { name: "Make default" }).count(), 0);
  await page.getByLabel("Token").fill(JUDGE);
  await page.keyboard.press("Enter");
  await row("linear").getByRole("button", { name: "Make default" }).click();
  await page.getByText("Judges may not do this").waitFor();
  await page.getByRole("button", { name: "Forget the token" }).click();
  await page.getByLabel("Token").fill(ADMIN);
  await page.keyboard.press("Enter");
  await row("linear").getByRole("button", { name: "Make default" }).click();
  await page.getByText("linear is the default now.").waitFor();
  assert.equal((await api(own, "models")).default, "linear");
  await page.getByLabel("Name").fill("trees");
  await page.getByLabel("Model file").setInputFiles(own.file("linear.json"));
  await page.getByRole("button", { name: "Upload" }).click();
  await page.getByText("trees serves version 2").waitFor();
  await row("trees").getByRole("button", { name: "Roll back to 1" }).click();
  await page.getByRole("button", { name: "Press again" }).click();
  await page.getByText("trees serves version 1 again.").waitFor();
  assert.equal((await api(own, "models")).models.find(({ name }) => name === "trees").version, 1);
  await row("trees").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Press again" }).click();
  await page.getByText("trees is removed.").waitFor();
  assert.deepEqual((await api(own, "models")).models.map(({ name }) => name), ["bm25", "linear"]);
  await page.getByLabel("Name").fill("broken");
  await page.getByLabel("Model file").setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await page.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("alert").waitFor();
  await page.reload();
  await row("linear").getByText("default").waitFor();
});

// ---- All views ----

for (const view of VIEWS) {
  onPage(`${view}: light and dark, as chosen or as the system is`, { hash: `#${view}` }, async (page) => {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.getByRole("button", { name: "Use dark colours" }).press("Enter");
    const dark = await colour();
    assert.notEqual(dark, light);
    await page.reload();
    assert.equal(await colour(), dark, "the choice is kept");
    const other = await visit(browser, server.address, { hash: `#${view}`, colorScheme: "dark" });
    assert.equal(await other.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
    await other.context().close();
  });

  onPage(`${view}: every control has a name, and the view is marked as the current one`, { hash: `#${view}` }, async (page) => {
    await page.waitForTimeout(300);
    assert.equal(await page.locator("nav [aria-current=page]").getAttribute("href"), `#${view}`);
    const nameless = await page.locator("button, input, select, progress, [role=region]").evaluateAll((all) =>
      all.filter((node) => !(node.getAttribute("aria-label") || node.labels?.length > 0 || node.textContent.trim())).map((node) => node.outerHTML));
    assert.deepEqual(nameless, []);
    assert.doesNotMatch(await page.innerText("body"), /undefined|NaN|\[object|Infinity|null/);
  });
}

onOwnServer("on a phone nothing is wider than the screen", ["--interleave", "trees,linear"], async (page, own) => {
  const phone = await visit(browser, own.address, PHONE);
  await type(phone, "zanzibarite lighthouse");
  await phone.getByLabel("Compare with").selectOption("bm25");
  await phone.locator(".lists.two").waitFor();
  await phone.locator(".hit .title").first().click();
  for (const details of await phone.locator("details").all()) await details.evaluate((node) => { node.open = true; });
  await phone.waitForTimeout(300);
  for (const details of await phone.locator(".raw").all()) await details.evaluate((node) => { node.open = true; });
  assert.ok(await overflow(phone) <= 0, "search");
  await phone.getByRole("link", { name: "Judge", exact: true }).click();
  assert.ok(await overflow(phone) <= 0, "signing in");
  await signIn(phone, "Ada", ADMIN);
  await phone.locator(".document").waitFor();
  for (const grade of ["3", "0", "1"]) await phone.locator(`[data-grade="${grade}"]`).click().then(() => phone.getByText(`Saved: ${grade}`).waitFor());
  assert.ok(await overflow(phone) <= 0, "judging");
  for (const [view, ready] of [["leaderboard", ".board"], ["live", ".scoreline"], ["models", ".actions"]]) {
    await phone.goto(`${own.address}/#${view}`);
    await phone.locator(ready).first().waitFor();
    assert.ok(await overflow(phone) <= 0, view);
  }
  assert.deepEqual(phone.problems, []);
  await phone.context().close();
});

onPage("by keys alone: from the link that skips the head to the results", { hash: "#search?q=ferry" }, async (page) => {
  await page.getByText("documents, ranked by trees.").waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the contents");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.name), "q");
  await page.keyboard.type("lighthouse");
  await page.keyboard.press("Enter");
  await page.locator(".snippet mark", { hasText: "lighthouse" }).first().waitFor();
  while (await page.evaluate(() => !document.activeElement.classList.contains("title"))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".hit .title").first().getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator(".shap").waitFor();
});

test("the page forbids everything from elsewhere", async () => {
  const response = await fetch(`${server.address}/`);
  const policy = response.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|http/);
});
