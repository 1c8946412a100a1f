// The report, used as a reader would use it. Expected values are computed here from the data in the page.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { embedded, launch, open } from "./browser.js";

const SECTIONS = ["leaderboard", "curves", "wins", "significance", "parameters", "training", "times", "worst", "data", "expectations", "reproduce"];
const SAMPLES = ["usual", "hostile", "large", "failed"];

/** Sections that would be empty: one system has nothing to be compared with, and where all failed there is nothing to draw. */
const EMPTY = {
  hostile: ["wins", "significance", "training"],
  failed: ["curves", "wins", "significance", "parameters", "training", "times", "worst"],
  empty: ["curves", "wins", "significance", "parameters", "training", "times", "worst", "data", "expectations"],
};
const sectionsOf = (sample) => SECTIONS.filter((id) => !(EMPTY[sample] ?? []).includes(id));

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** Opens a sample, runs the steps, and expects that nothing went wrong on the way. */
function onPage(name, sample, options, steps) {
  test(name, async () => {
    const page = await open(browser, sample, options);
    await steps(page);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  });
}

const hash = (page) => page.evaluate(() => location.hash);
const countShown = async (page, kind) => Number((await page.textContent(`#wins [data-count=${kind}]`)).replace(/\s/g, ""));
const linesDrawn = (page) => page.locator("#curves .line").count();
const chooseView = (page, name) => page.getByRole("radio", { name }).check({ force: true });

function countWins({ findings }, parts, system, baseline) {
  const metric = findings.metrics.indexOf(findings.selection);
  const number = (name) => findings.systems.findIndex((s) => s.name === name);
  const counts = { won: 0, tied: 0, lost: 0 };
  for (const data of parts) {
    const [ours, theirs] = [system, baseline].map((name) => data.systems[number(name)].values[metric]);
    ours.forEach((value, q) => { counts[value === theirs[q] ? "tied" : value > theirs[q] ? "won" : "lost"] += 1; });
  }
  return counts;
}

async function assertCounts(page, expected) {
  for (const kind of ["won", "tied", "lost"]) assert.equal(await countShown(page, kind), expected[kind], kind);
}

for (const sample of SAMPLES) {
  onPage(`${sample}: every section that is there says something, and the contents name no other`, sample, {}, async (page) => {
    assert.deepEqual(await page.locator("main section").evaluateAll((all) => all.map(({ id }) => id)), sectionsOf(sample));
    assert.deepEqual(await page.locator("#contents a").evaluateAll((all) => all.map((link) => link.dataset.jump)), sectionsOf(sample));
    for (const id of sectionsOf(sample)) {
      assert.ok((await page.textContent(`#${id} .body`)).trim().length > 0, id);
    }
    const text = await page.innerText("body");
    assert.doesNotMatch(text, /undefined|NaN|\[object|Infinity/);
  });

  onPage(`${sample}: on a phone nothing makes the page wider than the screen`, sample, { viewport: { width: 360, height: 740 } }, async (page) => {
    for (const details of await page.locator("details").all()) await details.evaluate((node) => { node.open = true; });
    const [content, screen] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
    assert.ok(content <= screen, `${content} > ${screen}`);
  });
}

onPage("empty: a report without data sets still stands", "empty", {}, async (page) => {
  assert.deepEqual(await page.locator("main section").evaluateAll((all) => all.map(({ id }) => id)), sectionsOf("empty"));
});

onPage("hostile names appear as text", "hostile", {}, async (page) => {
  const { findings } = await embedded(page);
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  assert.equal(plain(await page.title()), plain(findings.title));
  assert.equal(await page.textContent("h1"), findings.title);
  assert.equal(await page.textContent(".leaderboard .system"), findings.systems[0].name);
});

onPage("failures and expected figures that were not reached are at the top", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  assert.equal(await page.locator("#failures li").count(), findings.failures.length);
  assert.equal(await page.locator("#unmet li").count(), findings.expectations.filter((e) => !e.met).length);
  assert.match(await page.textContent("dl.facts"), /18446744073709551614/);
});

onPage("pressing a heading sorts, by mouse and by key", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  const board = page.locator('.board[data-view="td2004"]');
  const order = async () => (await board.locator("tbody tr").evaluateAll((rows) => rows.map((row) => Number(row.dataset.system))));
  const { means, order: best } = findings.data[1].standing;
  assert.deepEqual((await order()).slice(0, best.length), best);
  const metric = findings.metrics.indexOf("map");
  const byMap = [...best].sort((a, b) => means[b][metric] - means[a][metric]);
  const head = board.locator('th[data-column="map"]');
  await head.getByRole("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  assert.deepEqual((await order()).slice(0, best.length), byMap);
  await head.getByRole("button").press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  assert.deepEqual((await order()).slice(0, best.length), byMap.reverse());
  assert.equal((await order()).at(-1), 5, "the system that failed stays last");
  await page.goto(page.url());
  await page.reload();
  assert.equal(await head.getAttribute("aria-sort"), "ascending", "the address keeps the order");
});

onPage("the best of each column is bold, and those not behind it are marked", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  for (const data of findings.data) {
    const { means, order, all_pairs: all } = data.standing;
    const board = page.locator(`.board[data-view="${data.name}"]`);
    const bold = await board.locator("td.top").allTextContents();
    const highest = [0, 1, 2].map((m) => Math.max(...order.map((s) => means[s][m])).toFixed(4));
    assert.deepEqual([...bold].sort(), highest.sort());
    const alike = all.pairs.filter((p) => p.against === 0 && p.p_permutation_holm >= 0.05).map((p) => order[p.system]);
    const marked = await board.locator("tr", { hasText: "≈ best" }).evaluateAll((rows) => rows.map((row) => Number(row.dataset.system)));
    assert.deepEqual(marked.sort(), alike.sort());
  }
});

onPage("the leaderboard and the matrix show the same p for the same pair", "usual", {}, async (page) => {
  const ofBoard = await page.locator('.board[data-view="ohsumed"] tbody tr').evaluateAll((rows) => rows.map((row) => row.cells[row.cells.length - 2].textContent));
  const ofMatrix = await page.locator("#significance tbody tr td:nth-child(2) .p").allTextContents();
  assert.ok(ofMatrix.length >= 4);
  assert.deepEqual(ofBoard.slice(1, 1 + ofMatrix.length), ofMatrix.map((p) => p.replace(/^p /, "")));
});

onPage("training has one chart per system, though its titles differ from fold to fold", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  const learned = findings.data[0].systems.map(({ curves }, s) => [findings.systems[s].name, curves]).filter(([, curves]) => curves.length > 0);
  assert.ok(new Set(learned[0][1].map(({ what }) => what)).size > 1);
  const captions = await page.locator("#training figcaption b").allTextContents();
  assert.deepEqual(captions, learned.map(([name]) => name));
  assert.equal(await page.locator("#training figure").first().locator(".thin").count(), learned[0][1].length, "a line per fold");
});

for (const [screen, viewport] of [["desktop", { width: 1280, height: 900 }], ["phone", { width: 360, height: 740 }]]) {
  for (const sample of ["usual", "large"]) {
    onPage(`${sample}: labels of an axis do not overlap, ${screen}`, sample, { viewport }, async (page) => {
      const overlaps = await page.evaluate(() => {
        const found = [];
        for (const svg of document.querySelectorAll("svg.chart")) {
          const boxes = [...svg.querySelectorAll(".grid text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
          boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
            const apart = p.right <= q.left || q.right <= p.left || p.bottom <= q.top || q.bottom <= p.top;
            if (!apart) found.push(`${svg.getAttribute("aria-label")}: ${a} and ${b}`);
          }));
        }
        return found;
      });
      assert.deepEqual(overlaps, []);
    });
  }
}

onPage("a table that is wider than a phone says that it scrolls, and one that fits does not", "usual", { viewport: { width: 360, height: 740 } }, async (page) => {
  const board = page.locator("#leaderboard .table").first();
  await board.locator(".hint").waitFor();
  assert.ok(await board.locator(".scroll").evaluate((box) => box.scrollWidth > box.clientWidth));
  await page.setViewportSize({ width: 1800, height: 900 });
  await board.locator(".hint").waitFor({ state: "hidden" });
});

onPage("every chart can be saved as an SVG of its own", "usual", {}, async (page) => {
  const charts = await page.locator("svg.chart").count();
  assert.equal(await page.locator(".save").count(), charts);
  for (const id of ["curves", "wins", "parameters", "training", "times"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} .save`).first().click()]);
    assert.match(download.suggestedFilename(), /^sample-.*\.svg$/);
    const text = await readFile(await download.path(), "utf8");
    assert.match(text, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.doesNotMatch(text, /var\(|class=|data-tip/, "it needs no style sheet");
    const alone = await page.context().newPage();
    await alone.setContent(`<img src="data:image/svg+xml;base64,${Buffer.from(text).toString("base64")}">`);
    const width = await alone.locator("img").evaluate((image) => image.decode().then(() => image.naturalWidth));
    assert.ok(width > 200, `${id} is ${width} wide`);
    await alone.close();
  }
});

onPage("wins, ties and losses follow system, baseline and data set", "usual", {}, async (page) => {
  const data = await embedded(page);
  const [ohsumed, td2004] = data.findings.data;
  await page.getByLabel("against baseline").selectOption("bm25");
  await page.locator("#wins select").first().selectOption("list-net");
  await assertCounts(page, countWins(data, [ohsumed], "list-net", "bm25"));
  await chooseView(page, "td2004");
  await assertCounts(page, countWins(data, [td2004], "list-net", "bm25"));
  await chooseView(page, "All together");
  await assertCounts(page, countWins(data, [ohsumed, td2004], "list-net", "bm25"));
  await page.getByLabel("against baseline").selectOption("lambdamart");
  await assertCounts(page, countWins(data, [ohsumed, td2004], "list-net", "lambdamart"));
});

onPage("the chart of wins is read with the arrow keys", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  const chart = page.locator("#wins svg[role=slider]");
  await chart.focus();
  const [ours, theirs] = [1, 0].map((s) => findings.data[0].systems[s].values[0]);
  const sorted = ours.map((value, q) => [value - theirs[q], findings.data[0].query_ids[q]]).sort(([a], [b]) => b - a);
  assert.ok((await page.textContent("#wins .readout")).startsWith(`${sorted[0][1]}:`));
  await page.keyboard.press("ArrowRight");
  assert.ok((await page.textContent("#wins .readout")).startsWith(`${sorted[1][1]}:`));
  await page.keyboard.press("End");
  assert.ok((await chart.getAttribute("aria-valuetext")).startsWith(`${sorted.at(-1)[1]}:`));
});

onPage("the choice of data set redraws the curves, also by arrow key", "usual", {}, async (page) => {
  const curve = () => page.locator("#curves .line path").first().getAttribute("d");
  const table = () => page.locator("#curves details td").allTextContents();
  const { findings } = await embedded(page);
  const first = await curve();
  await page.getByRole("radio", { name: "ohsumed" }).press("ArrowRight");
  assert.equal(await page.getByRole("radio", { name: "td2004" }).isChecked(), true);
  assert.notEqual(await curve(), first);
  const { means, order } = findings.data[1].standing;
  assert.equal((await table())[1], means[order[0]][findings.metrics.indexOf("ndcg@1")].toFixed(4));
});

onPage("the legend shows and hides lines", "usual", {}, async (page) => {
  assert.equal(await linesDrawn(page), 5);
  const chip = page.locator("#curves .chip", { hasText: "rank-svm" });
  await chip.press("Space");
  assert.equal(await chip.getAttribute("aria-pressed"), "false");
  assert.equal(await linesDrawn(page), 4);
  await chip.click();
  assert.equal(await linesDrawn(page), 5);
});

onPage("light and dark", "usual", {}, async (page) => {
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await colour();
  await page.locator("#theme").press("Enter");
  assert.notEqual(await colour(), light);
  await page.locator("#theme").click();
  assert.equal(await colour(), light);
});

onPage("dark where the reader's system is dark", "usual", { colorScheme: "dark" }, async (page) => {
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
});

onPage("the address keeps what was chosen", "usual", {}, async (page) => {
  await chooseView(page, "td2004");
  await page.getByLabel("against baseline").selectOption("rank-svm");
  await page.locator("#worst").getByLabel("System").selectOption("bm25");
  await page.locator("#curves .chip", { hasText: "list-net" }).click();
  await page.locator("#theme").click();
  const chosen = await hash(page);
  const again = await open(browser, "usual", { hash: chosen });
  assert.equal(await again.getByRole("radio", { name: "td2004" }).isChecked(), true);
  assert.equal(await again.getByLabel("against baseline").inputValue(), "rank-svm");
  assert.equal(await again.locator("#worst").getByLabel("System").inputValue(), "bm25");
  assert.equal(await linesDrawn(again), 4);
  assert.equal(await again.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.deepEqual(again.problems, []);
  await again.context().close();
});

onPage("worst queries: the order of the findings, with documents inside", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  await page.locator("#worst").getByLabel("System").selectOption("list-net");
  const { worst } = findings.data[0].systems[2];
  const shown = await page.locator("#worst .query").allTextContents();
  assert.deepEqual(shown, worst.map((w) => `Query ${findings.data[0].query_ids[w.query]}`));
  await page.locator("#worst summary").first().press("Enter");
  assert.equal(await page.locator("#worst details[open] tbody th").first().textContent(), worst[0].top[0].id);
});

onPage("means of folds on demand", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  await page.getByLabel("Means over").selectOption("folds");
  const { fold_means: means, order } = findings.data[0].standing;
  const cell = page.locator('.board[data-view="ohsumed"] tbody tr').first().locator("td").nth(1);
  assert.equal(await cell.textContent(), means[order[0]][0].toFixed(4));
});

onPage("notes from reading the files are shown with the data", "usual", {}, async (page) => {
  const { findings } = await embedded(page);
  for (const { summary } of findings.data) {
    for (const note of [...summary.preparation, ...summary.notes]) assert.match(await page.textContent("#data"), new RegExp(note.replace(/[.[\]]/g, "\\$&")));
  }
});

onPage("print shows every data set, without controls and in light colours", "usual", { colorScheme: "dark" }, async (page) => {
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(await page.locator("#printed .view-name").allTextContents(), ["td2004", "All together"]);
  assert.equal(await page.isVisible("#contents"), false);
  assert.equal(await page.locator(".save:visible, .hint:visible").count(), 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
});

onPage("ten thousand queries and forty systems take few marks to draw", "large", {}, async (page) => {
  const data = await embedded(page);
  await page.getByLabel("against baseline").selectOption("system-9");
  const system = await page.locator("#wins select").first().inputValue();
  await assertCounts(page, countWins(data, data.findings.data, system, "system-9"));
  assert.ok(await page.locator("#wins svg *").count() < 50, "one path per sign, not one mark per query");
  assert.equal(await linesDrawn(page), 8);
  assert.equal(await page.locator("#curves .chip[aria-pressed=false]").count(), 32);
});
