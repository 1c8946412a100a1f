// Why a document stands where it does: what each feature adds to its score.

import { breakable, counted, element, formatDifference, formatShort, formatValue, sentence, shape, table } from "./dom.js";

/** Features that have a bar of their own at first. */
const SHOWN = 10;

/** A fold that is drawn when it is opened. */
export function whyHere(hit) {
  const place = element("div", { class: "why" });
  const details = element("details", null, element("summary", null, "Why is it here?"), place);
  details.addEventListener("toggle", () => {
    if (details.open && place.childElementCount === 0) place.append(...explanation(hit));
  });
  return details;
}

function explanation({ explain, score, bm25 }) {
  if (!explain) {
    return [sentence(`BM25 alone gives this document its place; the score is ${formatValue(bm25)}. Each word of the query adds to it:`
      + " more if the word is rare in the collection or frequent in the document, less if the document is long.")];
  }
  if (explain.features.every(({ contribution }) => contribution === null)) return valuesOnly(explain.features);
  const sorted = [...explain.features].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  const sum = sorted.reduce((total, { contribution }) => total + contribution, explain.base);
  const [first, rest] = [sorted.slice(0, SHOWN), sorted.slice(SHOWN)];
  const others = { name: counted(rest.length, "other feature"), contribution: rest.reduce((total, { contribution }) => total + contribution, 0) };
  const bars = rest.length > 0 ? [...first, others] : first;
  const greatest = bars.reduce((most, { contribution }) => Math.max(most, Math.abs(contribution)), 1e-12);
  return [
    sentence(`Starting from the base, each feature raises or lowers the score (SHAP values).`),
    barTable(explain, bars, sum, greatest),
    Math.abs(sum - score) > 1e-3 * Math.max(1, Math.abs(score))
      && sentence(`The sum differs from the score ${formatValue(score)}, which the model scales within the query.`),
    allFeatures(sorted, rawTable(sorted)),
  ].filter(Boolean);
}

/** What can be said where a score is not a sum over features. */
function valuesOnly(features) {
  const rows = features.map(({ name, value }) => [breakable(name), formatShort(value)]);
  return [
    sentence("The score of this model, such as a neural network, is not a sum over features, so there is no number for what each of them adds."),
    allFeatures(features, table("Features and their values", ["Feature", "Value"], rows)),
  ];
}

const allFeatures = (features, values) => element("details", { class: "raw" },
  element("summary", null, `All ${counted(features.length, "feature")} and their values`), values);

function barTable(explain, bars, sum, greatest) {
  const row = (name, bar, number, kind) => element("tr", { class: kind },
    element("th", { scope: "row" }, name), element("td", { class: "bar" }, bar), element("td", null, number));
  return element("table", { class: "shap" },
    element("caption", { class: "spoken" }, "Contributions of features to the score, largest first"),
    element("thead", { class: "spoken" }, element("tr", null, ["Feature", "Bar", "Contribution"].map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", null,
      row(explain.base_name, null, formatValue(explain.base), "base"),
      bars.map(({ name, contribution }) => row(breakable(name), contributionBar(contribution, greatest), formatDifference(contribution), null)),
      row("sum", null, formatValue(sum), "sum")));
}

/** A bar from the middle: to the right where the feature raises the score, to the left where it lowers it. */
function contributionBar(contribution, greatest) {
  const width = (Math.abs(contribution) / greatest) * 49;
  const x = contribution > 0 ? 50 : 50 - width;
  return shape("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    shape("rect", { class: contribution > 0 ? "raises" : "lowers", x: x.toFixed(2), width: width.toFixed(2), y: 1, height: 8 }),
    shape("line", { x1: 50, x2: 50, y1: 0, y2: 10 }));
}

function rawTable(features) {
  const rows = features.map(({ name, value, contribution }) => [breakable(name), formatShort(value), formatDifference(contribution)]);
  return table("Features and their values", ["Feature", "Value", "Contribution"], rows);
}
