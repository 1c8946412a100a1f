// Query by query: wins and losses against a baseline, and each system's worst queries.

/** The per-query differences of two systems, greatest first; queries that either of them lacks are left out. */
function differences(view, system, baseline) {
  const [names, ours, theirs] = [queryNames(view), queryValues(view, system), queryValues(view, baseline)];
  return names
    .map((name, query) => ({ name, ours: ours[query], theirs: theirs[query], difference: ours[query] - theirs[query] }))
    .filter(({ ours: a, theirs: b }) => a !== null && b !== null)
    .map((row) => (Math.abs(row.difference) <= TIE ? { ...row, difference: 0 } : row))
    .sort((a, b) => b.difference - a.difference);
}

function scoreCounts(rows) {
  const count = (test) => rows.filter(({ difference }) => test(difference)).length;
  return { wins: count((d) => d > 0), ties: count((d) => d === 0), losses: count((d) => d < 0) };
}

/** One path for all bars of a sign: quick with any number of queries. */
function barsPath(rows, from, to, c) {
  const step = c.x(1) - c.x(0);
  const gap = step >= 4 ? step * 0.15 : 0;
  const zero = c.y(0).toFixed(2);
  let path = "";
  for (let i = from; i < to; i++) {
    path += `M${(c.x(i) + gap).toFixed(2)} ${zero}V${c.y(rows[i].difference).toFixed(2)}H${(c.x(i + 1) - gap).toFixed(2)}V${zero}Z`;
  }
  return path;
}

/** Reading the chart by pointer or arrow keys: it is a slider over the queries. */
function makeReadable(node, rows, c, readout, describe) {
  const cursor = shape("rect", { class: "cursor", y: c.top, height: c.bottom - c.top, visibility: "hidden" });
  c.area.append(cursor);
  let current = 0;
  const go = (place) => {
    current = Math.min(rows.length - 1, Math.max(0, place));
    const wide = Math.max(2, c.x(current + 1) - c.x(current));
    cursor.setAttribute("x", (c.x(current + 0.5) - wide / 2).toFixed(2));
    cursor.setAttribute("width", wide.toFixed(2));
    cursor.setAttribute("visibility", "visible");
    readout.textContent = describe(rows[current]);
    node.setAttribute("aria-valuenow", current + 1);
    node.setAttribute("aria-valuetext", readout.textContent);
  };
  const far = Math.max(1, Math.round(rows.length / 20));
  const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -far, PageUp: far, Home: -Infinity, End: Infinity };
  node.addEventListener("keydown", (event) => {
    if (!(event.key in moves)) return;
    event.preventDefault();
    go(current + moves[event.key]);
  });
  node.addEventListener("focus", () => go(current));
  const atPointer = (event) => {
    const box = node.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * node.viewBox.baseVal.width;
    go(Math.floor((x - c.x(0)) / (c.x(1) - c.x(0))));
  };
  node.addEventListener("pointermove", atPointer);
  node.addEventListener("pointerdown", atPointer);
  for (const [name, value] of Object.entries({ role: "slider", tabindex: "0", "aria-valuemin": 1, "aria-valuemax": rows.length, "aria-valuenow": 1 })) {
    node.setAttribute(name, value);
  }
}

function differenceChart(rows, ours, theirs, width, readout) {
  const reach = Math.max(1e-6, 1.06 * most(rows.map(({ difference }) => Math.abs(difference))));
  const c = chart({ width, height: Math.min(340, Math.max(230, width * 0.4)), top: 26, label: `Difference on each query, ${ours} minus ${theirs}`,
    x: { range: [0, rows.length], ticks: [], line: false, title: `${counted(rows.length, "query", "queries")}, greatest gain first` },
    y: { range: [-reach, reach], title: `difference in ${findings.selection}` } });
  const { wins, ties } = scoreCounts(rows);
  c.area.append(shape("path", { class: "won", d: barsPath(rows, 0, wins, c) }),
    shape("path", { class: "lost", d: barsPath(rows, wins + ties, rows.length, c) }),
    shape("line", { class: "zero", x1: c.left, x2: c.right, y1: c.y(0), y2: c.y(0) }));
  makeReadable(c.node, rows, c, readout, (row) =>
    `${row.name}: ${ours} ${formatValue(row.ours)}, ${theirs} ${formatValue(row.theirs)}, difference ${formatDifference(row.difference)}`);
  return c.node;
}

function scoreline({ wins, ties, losses }) {
  const part = (kind, count, text) => element("span", { class: `count ${kind}` }, element("b", { "data-count": kind }, formatCount(count)), ` ${text}`);
  const bar = element("span", { class: "proportion", "aria-hidden": "true" },
    [["won", wins], ["tied", ties], ["lost", losses]].map(([kind, count]) => element("span", { class: kind, style: `flex-grow:${count}` })));
  return element("div", { class: "scoreline" },
    part("won", wins, wins === 1 ? "win" : "wins"), part("tied", ties, ties === 1 ? "tie" : "ties"),
    part("lost", losses, losses === 1 ? "loss" : "losses"), bar);
}

function drawWins(body, view, width) {
  const { order } = view.standing;
  const place = element("div", { class: "figure" });
  const pair = {};
  pair.base = chosenSystem("base", view, defaultBaseline(view));
  pair.system = chosenSystem("system", view, order.find((other) => other !== pair.base));
  const draw = () => {
    const [ours, theirs] = [systems[pair.system].name, systems[pair.base].name];
    const rows = differences(view, pair.system, pair.base);
    if (rows.length === 0) return place.replaceChildren(sentence("There is no query on which both systems have a value."));
    const readout = element("output", { class: "readout" }, "Point at the chart, or move through it with the arrow keys.");
    place.replaceChildren(saveButton(), scoreline(scoreCounts(rows)), differenceChart(rows, ours, theirs, innerWidthOf(width), readout), readout);
  };
  // Both are stored together, since the default of each depends on the other.
  const pick = (key) => (value) => {
    pair[key] = systems.findIndex(({ name }) => name === value);
    choose("system", systems[pair.system].name);
    choose("base", systems[pair.base].name);
    draw();
  };
  draw();
  body.replaceChildren(element("div", { class: "controls" }, systemPicker("System", order, pair.system, pick("system")),
    systemPicker("against baseline", order, pair.base, pick("base"))), place);
}

// ---- Worst queries ----

function gradeChip(grade, greatest) {
  const fraction = greatest > 0 ? Math.max(0, Math.min(1, grade / greatest)) : 0;
  return element("span", { class: `grade${fraction > 0.5 ? " high" : ""}`, style: `--fraction:${Math.round(fraction * 100)}%` }, formatShort(grade));
}

function worstQuery(data, worst, greatest) {
  const chips = (label, grades) => element("span", { class: "strip" }, element("span", { class: "what" }, label), grades.map((grade) => gradeChip(grade, greatest)));
  const rows = worst.top.map((document, place) => element("tr", null,
    element("td", null, place + 1),
    element("th", { scope: "row" }, document.id),
    element("td", null, isNumber(document.score) ? formatShort(Number(document.score.toPrecision(4))) : "–"),
    element("td", null, gradeChip(document.grade, greatest)),
    element("td", null, worst.best_grades[place] === undefined ? "–" : gradeChip(worst.best_grades[place], greatest))));
  const head = ["#", "Document", "Score", "Label", "Ideal"].map((text) => element("th", { scope: "col" }, text));
  return element("details", { class: "worst" },
    element("summary", null,
      element("span", { class: "query" }, `Query ${data.query_ids[worst.query] ?? worst.query}`),
      element("span", { class: "value" }, formatValue(worst.value)),
      element("span", { class: "strips" }, chips("ranked", worst.top.map(({ grade }) => grade)), chips("ideal", worst.best_grades))),
    scrollingTable(null, "Documents as ranked", element("thead", null, element("tr", null, head)), element("tbody", null, rows)));
}

const systemsWithQueries = (view) => view.standing.order.filter((system) => view.data.systems[system].worst.length > 0);

function drawWorst(body, view) {
  const withQueries = systemsWithQueries(view);
  const greatest = most([0, ...view.data.summary.grades.map(([grade]) => grade)]);
  const place = element("div");
  const current = () => {
    const system = chosenSystem("worst", view, withQueries[0]);
    return withQueries.includes(system) ? system : withQueries[0];
  };
  const draw = () => place.replaceChildren(...view.data.systems[current()].worst.map((worst) => worstQuery(view.data, worst, greatest)));
  draw();
  body.replaceChildren(element("div", { class: "controls" },
    systemPicker("System", withQueries, current(), (value) => { choose("worst", value); draw(); })), place);
}
