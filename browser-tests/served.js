// A browser that notes whatever goes wrong on the page of a server.
import assert from "node:assert/strict";

/** What is never allowed to happen is gathered in `page.problems`; `page.expect(pattern)` allows console errors like it. */
export async function visit(browser, address, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  return openIn(context, address, hash);
}

/** What the server answers without the page. */
export async function api(from, name, parameters = {}, options = {}) {
  const response = await fetch(`${from.address}/v1/${name}?${new URLSearchParams(parameters)}`, options);
  assert.ok(response.ok, `${name}: ${response.status}`);
  return response.json();
}

/** A sentence of the server as the page writes it. */
export const quoted = (sentence) => sentence.replace(/`([^`]*)`/g, "“$1”");

/** Another tab of the same browser. */
export async function openIn(context, address, hash = "") {
  const page = await context.newPage();
  const allowed = [];
  page.problems = [];
  page.expect = (pattern) => allowed.push(pattern);
  page.on("console", (message) => {
    const isAllowed = allowed.some((pattern) => pattern.test(message.text()));
    if (message.type() === "error" && !isAllowed) page.problems.push(message.text());
  });
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("dialog", (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => !request.url().startsWith(address) && !request.url().startsWith("data:") && page.problems.push(`request: ${request.url()}`));
  await page.goto(`${address}/${hash}`);
  return page;
}

/** Enters the judge's name and token on the page. */
export async function signIn(page, name, token) {
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Begin" }).click();
}

/** The document that is judged now, as `query id: title`. */
export const taskShown = async (page) => `${await page.textContent(".document h2")}: ${await page.textContent(".document h3")}`;

/** Presses the key of a grade and waits until it is saved. */
export async function press(page, key, name) {
  await page.keyboard.press(key);
  await page.getByText(`Saved: ${key}, ${name}.`).waitFor();
}

/** How much wider the contents are than the screen. */
export const overflow = (page) => page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
