// Pictures of the sample reports, for looking at: node shots.js DIRECTORY.
import { launch, open } from "./browser.js";

const directory = process.argv[2] ?? "../target/report-shots";
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
const browser = await launch();
for (const sample of ["usual", "hostile", "large", "failed", "empty"]) {
  for (const [name, options] of [["light", {}], ["dark", { colorScheme: "dark" }], ["phone", phone]]) {
    const page = await open(browser, sample, options);
    await page.screenshot({ path: `${directory}/${sample}-${name}.png`, fullPage: true });
    if (name === "dark") await page.pdf({ path: `${directory}/${sample}.pdf`, format: "A4" });
    if (page.problems.length > 0) console.log(sample, name, page.problems);
    await page.context().close();
  }
}
await browser.close();
