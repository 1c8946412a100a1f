// Screenshots of the page of a server, with judgments and clicks: node page-shots.js DIRECTORY.
import { launch } from "./browser.js";
import { signIn, visit } from "./served.js";
import { ADMIN, serve } from "./server.js";

const [directory] = process.argv.slice(2);
const phone = { viewport: { width: 360, height: 740 } };
const LOOKS = [["light", {}], ["dark", { colorScheme: "dark" }], ["phone", phone], ["phone-dark", { ...phone, colorScheme: "dark" }]];
const KEYS = ["3", "0", "2", "1", "0", "3", "1", "2", "0", "2"];

const browser = await launch();
const server = await serve(["--interleave", "trees,linear"]);

/** Judges and clicks, so that there is something to see. */
async function use(page) {
  await page.goto(`${server.address}/#judge`);
  await signIn(page, "Ada", ADMIN);
  for (const key of KEYS) {
    await page.locator(".document").waitFor();
    const next = page.waitForResponse("**/judge/next?*");
    await page.keyboard.press(key);
    await next;
    await page.waitForTimeout(100);
  }
  for (const query of ["lighthouse", "ferry", "museum", "coast walk", "castle", "garden"]) {
    await page.goto(`${server.address}/#search?q=${query}`);
    await page.locator(`.status:has-text("documents")`).waitFor();
    for (const at of [0, 2]) await page.locator(".hit .title").nth(at).click();
  }
  await page.waitForTimeout(300);
}

/** What is seen: a name, an address and what is done there. */
const SCENES = [
  ["start", "#search", async () => {}],
  ["search", "#search?q=coast+walk+in+Saltergate&a=trees", async (page) => {
    await page.locator(".hit .title").first().click();
    await page.getByText("Why is it here?").first().click();
    await page.getByText("features and their values").click();
  }],
  ["two", "#search?q=lighthouse&a=trees&b=linear", async (page) => {
    await page.locator(".hit").nth(12).waitFor();
    await page.getByText("Why is a document not here?").click();
    await page.getByLabel("Id of the document").fill("saltergate-castle");
    await page.keyboard.press("Enter");
    await page.locator(".whynot p").first().waitFor();
  }],
  ["hostile", "#search?q=zanzibarite&a=trees&b=bm25", async () => {}],
  ["nothing", "#search?q=qwertzuiop&a=tree", async () => {}],
  ["judge", "#judge", async (page) => {
    await page.locator(".document").waitFor();
    await page.getByText("Guidelines").click();
  }],
  ["leaderboard", "#leaderboard", async () => {}],
  ["live", "#live", async () => {}],
  ["models", "#models", async () => {}],
];

const first = await visit(browser, server.address);
await use(first);
for (const [look, options] of LOOKS) {
  const start = await visit(browser, server.address, { hash: "#judge", ...options });
  await start.getByLabel("Token").waitFor();
  await start.screenshot({ path: `${directory}/signin-${look}.png`, fullPage: true });
  await signIn(start, "Grace", ADMIN);
  for (const [name, hash, steps] of SCENES) {
    await start.goto("about:blank");
    await start.goto(`${server.address}/${hash}`);
    await start.waitForTimeout(700);
    await steps(start);
    await start.mouse.move(0, 0);
    await start.waitForTimeout(200);
    await start.screenshot({ path: `${directory}/${name}-${look}.png`, fullPage: true });
  }
  if (start.problems.length > 0) console.log(look, start.problems);
  await start.context().close();
}
await browser.close();
await server.stop();
