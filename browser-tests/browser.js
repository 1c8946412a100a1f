// A browser that notes whatever goes wrong on a page.
import { chromium } from "playwright-core";
import path from "node:path";

const samples = path.resolve(process.env.SAMPLES ?? "../target/report-samples");

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** Opens a sample; `page.problems` gathers console errors, exceptions and every request but the one for the file. */
export async function open(browser, sample, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.problems = [];
  const address = `file://${samples}/${sample}.html`;
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("dialog", (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => !request.url().startsWith(address) && page.problems.push(`request: ${request.url()}`));
  await page.goto(address + hash);
  return page;
}

/** What the report was drawn from. */
export const embedded = (page) => page.evaluate(() => JSON.parse(document.getElementById("findings").textContent));
