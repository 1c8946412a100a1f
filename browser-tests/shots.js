// Screenshots of the sample reports: node shots.js DIRECTORY [SAMPLE...]. Long pages are cut into pieces.
import { launch, open } from "./browser.js";

const [directory, ...wanted] = process.argv.slice(2);
const PIECE = 1800;
const phone = { viewport: { width: 390, height: 844 } };
const browser = await launch();
for (const sample of wanted.length > 0 ? wanted : ["usual", "hostile", "large", "failed", "empty"]) {
  for (const [name, options] of [["light", {}], ["dark", { colorScheme: "dark" }], ["phone", phone]]) {
    const page = await open(browser, sample, options);
    const { width, height } = await page.evaluate(() => ({ width: innerWidth, height: document.scrollingElement.scrollHeight }));
    for (let y = 0, piece = 1; y < height; y += PIECE, piece++) {
      const clip = { x: 0, y, width, height: Math.min(PIECE, height - y) };
      await page.screenshot({ path: `${directory}/${sample}-${name}-${piece}.png`, fullPage: true, clip });
    }
    if (name === "dark") await page.pdf({ path: `${directory}/${sample}.pdf`, format: "A4" });
    if (page.problems.length > 0) console.log(sample, name, page.problems);
    await page.context().close();
  }
}
await browser.close();
