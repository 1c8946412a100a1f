// The models by the judgments so far.

import { address } from "./address.js";
import { intervalPlot, rangeOf } from "./chart.js";
import { counted, element, formatDifference, formatInterval, formatP, formatPercent, formatValue, sentence, table, tag } from "./dom.js";
import { follow } from "./follow.js";

export const title = "Leaderboard";

const REFRESH_SECONDS = 5;

/** How metrics are written. */
const NAMES = { "ndcg@10": "NDCG@10", map: "MAP", mrr: "MRR" };
const nameOf = (metric) => NAMES[metric] ?? metric;

export const show = (place) => follow(place, "leaderboard", REFRESH_SECONDS, contents);

function contents(board) {
  if (board.models.length === 0) {
    return [element("p", { class: "verdict" }, "There is nothing to compare yet."),
      sentence(board.queries === 0 ? "The leaderboard needs at least one query with a document that was judged relevant. "
        : "The leaderboard needs two models. ", element("a", { href: address("judge") }, "Judge some documents"), ".")];
  }
  const [main, ...others] = board.metrics;
  const models = [...board.models].sort((a, b) => b.metrics[main].mean - a.metrics[main].mean);
  return [
    element("p", { class: "verdict" }, verdict(models, main)),
    sentence(`${counted(board.judgments, "judgment")} for ${counted(board.judged_queries, "query", "queries")}, `
      + `of which ${board.queries} ${board.queries === 1 ? "has" : "have"} a relevant document and ${board.queries === 1 ? "is" : "are"} counted. The label is ${board.rule}.`),
    boardTable(models, main, others, board.queries),
    ...warnings(models, board.queries),
    ...queryByQuery(board.by_query, models, main, board.queries),
  ];
}

/** The models that no other is better than, of models in order. */
const bestOf = (models, main) => models.filter(({ metrics }) => metrics[main].mean === models[0].metrics[main].mean);

/** The main result in a sentence. */
function verdict(models, main) {
  const [best, second] = models;
  const { mean, against: bestAgainst } = best.metrics[main];
  const value = `by ${nameOf(main)}: ${formatValue(mean)}`;
  const tied = bestOf(models, main);
  if (mean === 0) return `No model is better than another ${value}. No model has a document that was judged relevant among its first ten.`;
  if (tied.length === models.length) return `All models are equally good ${value}.`;
  if (tied.length > 1) return `${listed(tied.map(({ name }) => name))} are equally good ${value}.`;
  const against = bestAgainst ?? second.metrics[main].against;
  if (!against) return `${best.name} is best ${value}.`;
  const pair = bestAgainst ? against.baseline : second.name;
  return against.p < 0.05 ? `${best.name} is best ${value}. It is significantly better than ${pair} (p ${formatP(against.p)}).`
    : `${best.name} is best ${value}, but not significantly better than ${pair} (p ${formatP(against.p)}): the judgments do not tell them apart yet.`;
}

/** Names as in `a, b and c`. */
const listed = (names) => `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

function boardTable(models, main, others, queries) {
  const intervals = models.map(({ metrics }) => metrics[main].interval).filter(Boolean);
  const range = rangeOf([...intervals.flatMap(({ low, high }) => [low, high]), ...models.map(({ metrics }) => metrics[main].mean)]);
  const best = models[0].metrics[main].mean;
  const isBestAlone = bestOf(models, main).length === 1;
  const rows = models.map(({ name, metrics, judged_at_10: judged }, place) => [
    [name, place === 0 && isBestAlone && tag("best", "good"), !metrics[main].against && tag("baseline")],
    formatValue(metrics[main].mean),
    queries < 2 ? "–" : intervalCell(metrics[main], range, best),
    ...others.map((metric) => formatValue(metrics[metric].mean)),
    differenceCell(metrics[main].against, queries),
    metrics[main].against ? formatP(metrics[main].against.p) : "–",
    formatPercent(judged, 0),
  ]);
  const baseline = models.map(({ metrics }) => metrics[main].against?.baseline).find(Boolean);
  const heads = ["Model", nameOf(main), "95\u00a0%\u00a0CI", ...others.map(nameOf), `Difference from ${baseline}`, "p", "Judged in top 10"];
  return table("Leaderboard", heads, rows, { class: "board" });
}

function intervalCell({ mean, interval }, range, best) {
  if (!interval) return "–";
  return [intervalPlot(mean, interval, range, best), element("span", { class: "range" }, formatInterval(interval, (value) => formatValue(value, 3)))];
}

function differenceCell(against, queries) {
  if (!against) return "–";
  const interval = queries > 1 && against.interval;
  return [formatDifference(against.difference), interval && element("span", { class: "range below" },
    formatInterval(interval, (value) => formatDifference(value, 3)))];
}

/** The queries on which the models differ, each with a search that shows the best and the worst side by side. */
function queryByQuery(queries, models, main, all) {
  const names = models.map(({ name }) => name);
  const rows = queries.map(({ text, values }) => {
    const ordered = [...names].sort((a, b) => values[b] - values[a]);
    const link = element("a", { href: address("search", { q: text, a: ordered[0], b: ordered.at(-1) }) }, text);
    const [highest, lowest] = [values[ordered[0]], values[ordered.at(-1)]];
    return [link, ...names.map((name) => (values[name] === highest && highest > lowest ? element("strong", null, formatValue(values[name])) : formatValue(values[name])))];
  });
  const which = queries.length < all ? `The ${queries.length} queries on which the models differ most` : "The queries on which the models differ most come first";
  return [
    element("h2", null, "Query by query"),
    sentence(`${nameOf(main)} of each query. ${which}. A link searches with the best and the worst model side by side.`),
    table("Query by query", ["Query", ...names], rows, { class: "queries" }),
  ];
}

/** What keeps the numbers from being taken at their word. */
function warnings(models, queries) {
  const judged = models.map((model) => model.judged_at_10);
  const [least, most] = [Math.min(...judged), Math.max(...judged)];
  return [
    queries < 2 && sentence("Confidence intervals need at least two queries."),
    least < 0.9 && sentence(least < most ? "Models with fewer judged documents in their top 10 are at a disadvantage."
      : `Only ${formatPercent(least, 0)} of the documents in the top 10 of the models are judged; more judgments may change the order.`),
  ].filter(Boolean);
}
