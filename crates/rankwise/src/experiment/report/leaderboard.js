// Systems side by side: the leaderboards, and every pair of systems.

/** p of every system against the best one, by system number, adjusted for all pairs as in the matrix. */
function pAgainstBest({ order, all_pairs: comparison }) {
  const withBest = (comparison?.pairs ?? []).filter(({ against }) => against === 0);
  return new Map(withBest.map((pair) => [order[pair.system], pair.p_permutation_holm]));
}

/** The main result of a table, in a sentence. */
function verdict(standing, p) {
  const [best] = standing.order;
  if (best === undefined) return "No system finished here.";
  const value = formatValue(standing.means[best][selectionIndex]);
  const lead = `${systems[best].name} is best by ${findings.selection}: ${value} over ${counted(standing.queries, "query", "queries")}.`;
  if (standing.order.length === 1) return lead;
  const alike = standing.order.filter((system) => p.get(system) >= LEVEL).map((system) => systems[system].name);
  if (alike.length === 0) return p.size > 0 ? `${lead} All others are significantly behind it.` : lead;
  const names = alike.length > 4 ? `${alike.length} other systems` : alike.join(", ");
  return `${lead} Not significantly behind it: ${names}.`;
}

/** A mean with its confidence interval, on the same scale in all rows. */
function intervalPlot(value, interval, toX, bestValue) {
  const at = (v) => toX(v).toFixed(1);
  return shape("svg", { class: "interval", viewBox: "0 0 120 18", width: 120, height: 18, "aria-hidden": "true" },
    shape("line", { class: "reference", x1: at(bestValue), x2: at(bestValue), y1: 0, y2: 18 }),
    shape("line", { class: "span", x1: at(interval.low), x2: at(interval.high), y1: 9, y2: 9 }),
    shape("line", { class: "span", x1: at(interval.low), x2: at(interval.low), y1: 5, y2: 13 }),
    shape("line", { class: "span", x1: at(interval.high), x2: at(interval.high), y1: 5, y2: 13 }),
    shape("circle", { cx: at(value), cy: 9, r: 3.6 }));
}

function tag(text, explanation, kind = "") {
  return element("span", { class: `tag ${kind}`, title: explanation }, text);
}

function systemCell(view, system, best, p) {
  const failed = !view.standing.order.includes(system);
  return element("th", { scope: "row", class: "name" },
    element("span", { class: "swatch", style: `background:${look(system).colour}` }),
    element("span", { class: "system", title: systems[system].title }, systems[system].name),
    system === best && tag("best", `Highest mean of ${findings.selection}`, "good"),
    p.get(system) >= LEVEL && tag("≈ best", `Not significantly behind the best: p ≥ ${LEVEL} with Holm’s correction for all pairs`),
    isExternal(system) && tag("external", "Scores read from files"),
    wasCutShort(view, system) && tag("cut short", "A time limit ended training early, so the result depends on the clock", "warn"),
    failed && tag("failed", "See the failures at the top", "bad"));
}

/** The columns of a leaderboard: { key, head, value(system), cell(system) }; a greater value sorts first by default. */
function leaderboardColumns(view, p) {
  const { standing } = view;
  const [best] = standing.order;
  const means = choices.get("mean") === "folds" ? standing.fold_means : standing.means;
  const metricColumns = shownMetrics.map((metric) => {
    const value = (system) => means[system]?.[metric] ?? null;
    const texts = systems.map((_, system) => formatValue(value(system)));
    const top = most(systems.map((_, system) => value(system) ?? -Infinity));
    const cell = (system) => element("td", { class: texts[system] === formatValue(top) ? "top" : null }, texts[system]);
    return { key: findings.metrics[metric], head: findings.metrics[metric], main: metric === selectionIndex, value, cell };
  });
  const middle = (system) => standing.means[system]?.[selectionIndex] ?? null;
  const known = standing.intervals.filter((interval) => interval !== null);
  const toX = scale(airy(known.flatMap(({ low, high }) => [low, high]), { air: 0.02 }), 4, 116);
  const confidence = standing.all_pairs ? `${Math.round(standing.all_pairs.confidence * 100)} % ` : "";
  const intervalCell = (system) => {
    const interval = standing.intervals[system];
    if (!interval || middle(system) === null) return element("td", { class: "range" }, "–");
    return element("td", { class: "range" }, intervalPlot(middle(system), interval, toX, middle(best)),
      element("span", null, `${formatValue(interval.low, 3)} – ${formatValue(interval.high, 3)}`));
  };
  const place = (system) => (standing.order.includes(system) ? standing.order.indexOf(system) + 1 : null);
  return [
    { key: "#", head: "#", upward: true, value: place, cell: (system) => element("td", { class: "place" }, place(system) ?? "–") },
    { key: "system", head: "System", upward: true, value: (system) => systems[system].name, cell: (system) => systemCell(view, system, best, p) },
    ...metricColumns,
    { key: "interval", head: `${confidence}CI of ${findings.selection}`, value: (system) => standing.intervals[system]?.low ?? null, cell: intervalCell },
    { key: "p", head: "p vs. best", value: (system) => p.get(system) ?? null, cell: (system) => element("td", null, formatP(p.get(system))) },
    { key: "time", head: "Training", upward: true, value: (system) => trainSeconds(view, system), cell: (system) => element("td", null, formatSeconds(trainSeconds(view, system))) },
  ];
}

/** Systems without a value come last whichever way the column is sorted. */
function sortedBy(column, ascending) {
  const before = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  return systems.map((_, system) => system).sort((a, b) => {
    const [left, right] = [column.value(a), column.value(b)];
    if (left === null || right === null) return (left === null) - (right === null) || a - b;
    return (ascending ? before(left, right) : before(right, left)) || a - b;
  });
}

function leaderboard(view) {
  const sortKey = `sort:${view.key}`;
  const p = pAgainstBest(view.standing);
  const columns = leaderboardColumns(view, p);
  const body = element("tbody");
  const [initialKey, initialWay] = (choices.get(sortKey) ?? "# up").split(/ (?=\w+$)/);
  const heads = columns.map((column) => {
    const flip = () => {
      const sorted = heads[columns.indexOf(column)].getAttribute("aria-sort");
      const ascending = sorted === null ? Boolean(column.upward) : sorted === "descending";
      choose(sortKey, `${column.key} ${ascending ? "up" : "down"}`);
      sort(column, ascending);
    };
    return element("th", { scope: "col", class: column.main ? "main" : null, "data-column": column.key },
      element("button", { type: "button", onclick: flip }, column.head));
  });
  const sort = (column, ascending) => {
    heads.forEach((head, i) => {
      if (columns[i] === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    const rows = sortedBy(column, ascending).map((system) => {
      const kind = system === view.standing.order[0] ? "best" : view.standing.order.includes(system) ? null : "failed";
      return element("tr", { class: kind, "data-system": system }, columns.map(({ cell }) => cell(system)));
    });
    body.replaceChildren(...rows);
  };
  sort(columns.find((column) => column.key === initialKey) ?? columns[0], initialWay !== "down");
  return element("div", { class: "board", "data-view": view.key },
    element("h3", null, view.data ? view.name : "All data sets together"),
    element("p", { class: "verdict" }, verdict(view.standing, p)),
    scrollingTable({ class: "leaderboard" }, `Leaderboard of ${view.name}`, element("thead", null, element("tr", null, heads)), body));
}

function drawLeaderboards(body) {
  const several = findings.data.some((data) => data.folds > 1);
  const meanPicker = several && picker("Means over",
    [["queries", "all queries"], ["folds", "folds, as papers report them"]],
    choices.get("mean") ?? "queries",
    (value) => { choose("mean", value === "folds" ? value : null); drawBoards(); });
  const boards = element("div");
  const inOrder = [...views.filter((view) => !view.data), ...views.filter((view) => view.data)];
  const drawBoards = () => boards.replaceChildren(...inOrder.map(leaderboard));
  drawBoards();
  body.replaceChildren(...[meanPicker, views.length === 0 ? sentence("There is no data set to show.") : boards].filter(Boolean));
}

// ---- Every pair ----

/** With more systems than this, the cells of the matrix show the difference only. */
const ROOMY_MATRIX = 12;

/** Pairs by [row][column] place in the order, seen from the row. */
function pairTable({ order, all_pairs: comparison }) {
  const table = order.map(() => []);
  for (const pair of comparison?.pairs ?? []) {
    table[pair.system][pair.against] = { ...pair };
    table[pair.against][pair.system] = { ...pair, difference: -pair.difference, wins: pair.losses, losses: pair.wins };
  }
  return table;
}

function pairCell(pair, row, column, greatest, roomy) {
  if (!pair) return element("td", { class: "self" }, row === column ? "" : "–");
  const sure = pair.p_permutation_holm < LEVEL;
  const kind = sure ? (pair.difference > 0 ? "better" : "worse") : "unclear";
  const strength = greatest > 0 ? 0.25 + 0.75 * (Math.abs(pair.difference) / greatest) : 0;
  const explanation = `${row} against ${column}: ${formatDifference(pair.difference)}, p ${formatP(pair.p_permutation_holm)} (Holm), `
    + `${counted(pair.wins, "win")}, ${counted(pair.ties, "tie")}, ${counted(pair.losses, "loss", "losses")}`;
  return element("td", { class: kind, style: `--strength:${Math.round(strength * 100)}%`, "data-tip": explanation },
    element("span", { class: "difference" }, formatDifference(pair.difference, 3)),
    roomy && element("span", { class: "p" }, `p ${formatP(pair.p_permutation_holm)}`));
}

function drawMatrix(body, view) {
  const { order } = view.standing;
  const pairs = pairTable(view.standing);
  const roomy = order.length <= ROOMY_MATRIX;
  const name = (place) => systems[order[place]].name;
  const greatest = most(view.standing.all_pairs.pairs.map((pair) => Math.abs(pair.difference)));
  const rows = order.map((system, row) => element("tr", null,
    element("th", { scope: "row" }, element("b", null, row + 1), " ", element("span", null, name(row))),
    order.map((_, column) => pairCell(pairs[row][column], name(row), name(column), greatest, roomy))));
  const heads = order.map((_, column) => element("th", { scope: "col", "data-tip": name(column) }, column + 1));
  const key = (kind, text) => element("li", null, element("span", { class: `key ${kind}`, style: "--strength:70%" }), text);
  body.replaceChildren(
    scrollingTable({ class: `matrix${roomy ? "" : " tight"}` }, "Differences of all pairs",
      element("thead", null, element("tr", null, element("td"), heads)), element("tbody", null, rows)),
    element("ul", { class: "keys" }, key("better", "row significantly better than column"), key("worse", "row significantly worse"),
      key("unclear", `no significant difference (Holm’s p ≥ ${LEVEL})`)));
}
