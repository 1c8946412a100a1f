// Charts with one mark or line per system: NDCG by depth, training curves, time against accuracy.

/** With more systems than this, only the best ones are drawn until others are asked for. */
const LINES_AT_FIRST = 8;

function shownLines(view) {
  if (!choices.has("line")) return new Set(view.standing.order.slice(0, LINES_AT_FIRST));
  const names = choices.getAll("line");
  return new Set(view.standing.order.filter((system) => names.includes(systems[system].name)));
}

/** Buttons that show and hide lines; `onChange` draws the chart again. */
function legend(view, onChange) {
  const chips = view.standing.order.map((system) => {
    const flip = (event) => {
      const now = shownLines(view);
      if (!now.delete(system)) now.add(system);
      choose("line", now.size === 0 ? [""] : [...now].map((shown) => systems[shown].name));
      event.currentTarget.setAttribute("aria-pressed", now.has(system));
      onChange();
    };
    const { colour, dash, marker: kind } = look(system);
    const sample = shape("svg", { viewBox: "0 0 30 12", width: 30, height: 12, "aria-hidden": "true" },
      shape("line", { x1: 0, x2: 30, y1: 6, y2: 6, style: `stroke:${colour};stroke-dasharray:${dash};stroke-width:2` }),
      marker(kind, 15, 6, 3.6, { style: `fill:${colour}` }));
    return element("button", { type: "button", class: "chip", "aria-pressed": String(shownLines(view).has(system)), "data-system": system, onclick: flip },
      sample, element("span", null, systems[system].name));
  });
  return element("div", { class: "legend", role: "group", "aria-label": "Lines shown" }, chips);
}

/** The metrics named ndcg@k, by ascending k: [k, metric]. */
function ndcgDepths() {
  const found = findings.metrics.map((name, metric) => [Number(/^ndcg@(\d+)$/i.exec(name)?.[1] ?? 0), metric]);
  return found.filter(([k]) => k > 0).sort(([a], [b]) => a - b);
}

function depthChart(view, depths, width) {
  const shown = view.standing.order.filter((system) => shownLines(view).has(system));
  const lines = shown.map((system) => ({
    system,
    points: depths.map(([k, metric]) => [k, view.standing.means[system][metric]]).filter(([, value]) => isNumber(value)),
  })).filter(({ points }) => points.length > 0);
  const labelled = width >= 620;
  const right = labelled ? Math.min(220, 24 + most([0, ...lines.map(({ system }) => textWidth(shorten(systems[system].name, 26)))])) : 14;
  const ks = depths.map(([k]) => k);
  const tickable = ks.length > 12 ? undefined : ks;
  const c = chart({ width, height: Math.min(430, Math.max(260, width * 0.55)), right, top: 26, label: `NDCG at depth k on ${view.name}, one line per system`,
    x: { range: [ks[0], ks.at(-1)], ticks: tickable, title: "depth k" },
    y: { range: airy(lines.flatMap(({ points }) => points.map(([, value]) => value))), title: "NDCG@k" } });
  for (const { system, points } of lines) {
    const { colour, dash, marker: kind } = look(system);
    const group = shape("g", { class: "line", "data-system": system, style: `--own:${colour}` },
      shape("path", { d: linePath(points.map(([k, value]) => [c.x(k), c.y(value)])), "stroke-dasharray": dash }),
      points.map(([k, value]) => marker(kind, c.x(k), c.y(value), 3.6,
        { "data-tip": `${systems[system].name}: NDCG@${k} ${formatValue(value)}` })));
    c.area.append(group);
  }
  if (labelled) labelLines(c, lines);
  return c.node;
}

/** Names at the right ends of the lines, moved apart where they would overlap. */
function labelLines(c, lines) {
  const ends = lines.map(({ points }) => points.at(-1)).map(([k, value]) => [c.x(k), c.y(value)]);
  const places = spread(ends.map(([, y]) => y), 15, c.top, c.bottom);
  lines.forEach(({ system }, i) => c.area.append(
    shape("path", { class: "lead", d: linePath([[ends[i][0] + 6, ends[i][1]], [c.right + 12, places[i]]]) }),
    shape("text", { class: "label", x: c.right + 16, y: places[i], dy: "0.32em", style: `fill:${look(system).colour}` },
      shorten(systems[system].name, 26))));
}

function depthTable(view, depths) {
  const rows = view.standing.order.map((system) => element("tr", null, element("th", { scope: "row" }, systems[system].name),
    depths.map(([, metric]) => element("td", null, formatValue(view.standing.means[system][metric])))));
  return element("details", null, element("summary", null, "Show numbers"),
    scrollingTable(null, "NDCG by depth", element("thead", null, element("tr", null, element("td"),
      depths.map(([k]) => element("th", { scope: "col" }, `@${k}`)))), element("tbody", null, rows)));
}

const hasCurves = (view) => ndcgDepths().length > 1 && view.standing.order.length > 0;

function drawCurves(body, view, width) {
  const depths = ndcgDepths();
  const place = element("div", { class: "figure" });
  const draw = () => place.replaceChildren(saveButton(), depthChart(view, depths, innerWidthOf(width)));
  draw();
  const more = view.standing.order.length > LINES_AT_FIRST
    && sentence(`The best ${LINES_AT_FIRST} of ${view.standing.order.length} systems are drawn at first; press a name to show or hide its line.`);
  body.replaceChildren(...[legend(view, draw), more, place, depthTable(view, depths)].filter(Boolean));
}

// ---- Training curves ----

/** The points of a curve, divided where its steps count from the beginning again. */
function runsOf(points) {
  const starts = points.map((_, i) => i).filter((i) => i === 0 || points[i][0] < points[i - 1][0]);
  return starts.map((start, i) => points.slice(start, starts[i + 1]));
}

function trainingChart(name, what, curves, width) {
  const drawn = curves.map((curve) => ({ ...curve, points: curve.points.filter(([, value]) => isNumber(value)) }))
    .filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return null;
  const all = drawn.flatMap(({ points }) => points);
  const values = all.map(([, value]) => value);
  const log = least(values) > 0 && most(values) > 1000 * least(values);
  const steps = airy(all.map(([step]) => step), { air: 0 });
  const c = chart({ width, height: 190, label: `${what} of ${name} while training, a line per fold`,
    x: { range: steps, title: "step" }, y: { range: airy(values, { log }), log } });
  for (const { fold, repeat, points } of drawn) {
    const again = findings.repeats > 1 ? `, repeat ${repeat + 1}` : "";
    const [step, value] = points.at(-1);
    c.area.append(shape("g", { class: "thin" },
      shape("path", { d: runsOf(points).map((run) => linePath(run.map(([x, y]) => [c.x(x), c.y(y)]))).join("") }),
      marker("circle", c.x(step), c.y(value), 2.6, { "data-tip": `fold ${fold + 1}${again}: ${formatShort(value)} after step ${step}` })));
  }
  return smallFigure([element("b", null, name), ` ${what}`], c.node, width);
}

/** Widths of charts that stand side by side. */
function smallWidth(width) {
  const columns = Math.max(1, Math.floor((width + 24) / 324));
  return Math.floor((width - 24 * (columns - 1)) / columns);
}

function smallFigure(caption, node, width) {
  return element("figure", { class: "small", style: `width:${width}px` }, element("figcaption", null, element("span", null, caption), saveButton()), node);
}

/** What a curve shows, without numbers that differ from fold to fold, so that all folds share a chart. */
const withoutNumbers = (what) => what.replace(/(?<=^|[\s(=])[-+]?\d+(\.\d+)?(e[-+]?\d+)?(?=$|[\s),;:])/gi, "…");

const hasTraining = (view) => view.data.systems.some(({ curves }) =>
  curves.some(({ points }) => points.some(([, value]) => isNumber(value))));

function drawTraining(body, view, width) {
  const figures = view.data.systems.flatMap(({ curves }, system) =>
    [...groupBy(curves, ({ what }) => withoutNumbers(what))].map(([what, group]) => trainingChart(systems[system].name, what, group, smallWidth(width))));
  body.replaceChildren(element("div", { class: "multiples" }, figures.filter(Boolean)));
}

// ---- Time against accuracy ----

/** The first place beside a mark where the label meets no other one; null where there is none. */
function freePlace(x, y, text, taken, c) {
  const width = textWidth(text);
  const places = [[9, 4], [-9 - width, 4], [-width / 2, -10], [-width / 2, 19], [9, -8], [9, 16], [-9 - width, -8], [-9 - width, 16]];
  for (const [dx, dy] of places) {
    const box = { left: x + dx, right: x + dx + width, top: y + dy - 11, bottom: y + dy + 3 };
    const inside = box.left >= c.left && box.right <= c.right + 8 && box.top >= 0 && box.bottom <= c.bottom;
    const free = taken.every((other) => box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom);
    if (inside && free) return { box, x: box.left, y: y + dy };
  }
  return null;
}

/** Round times, for the axis. */
const TIME_TICKS = new Map([[0.001, "1 ms"], [0.01, "10 ms"], [0.1, "100 ms"], [1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"],
  [3600, "1 h"], [36000, "10 h"], [360000, "100 h"]]);

function timeAxis(seconds) {
  const range = airy(seconds, { log: true, air: 0.08 });
  const ticks = [...TIME_TICKS.keys()].filter((tick) => tick >= range[0] && tick <= range[1]);
  const round = ticks.length > 1;
  return { range, log: true, title: "training time, summed over folds (log scale)",
    ticks: round ? ticks : undefined, format: round ? (tick) => TIME_TICKS.get(tick) : formatSeconds };
}

/** Systems with a training time and a value. */
function timedSystems(view) {
  const { order, means } = view.standing;
  return order.map((system) => ({ system, seconds: trainSeconds(view, system), value: means[system][selectionIndex] }))
    .filter(({ seconds, value }) => isNumber(seconds) && isNumber(value))
    .map((point) => ({ ...point, seconds: Math.max(point.seconds, 1e-4) }));
}

function drawTimes(body, view, width) {
  const { order } = view.standing;
  const timed = timedSystems(view);
  const c = chart({ width: innerWidthOf(width), height: Math.min(420, Math.max(260, width * 0.5)), top: 26, right: 20,
    label: `${findings.selection} against training time on ${view.name}`,
    x: timeAxis(timed.map(({ seconds }) => seconds)),
    y: { range: airy(timed.map(({ value }) => value), { air: 0.1 }), title: findings.selection } });
  const taken = timed.map(({ seconds, value }) => ({ left: c.x(seconds) - 6, right: c.x(seconds) + 6, top: c.y(value) - 6, bottom: c.y(value) + 6 }));
  for (const { system, seconds, value } of timed) {
    const [x, y, text] = [c.x(seconds), c.y(value), shorten(systems[system].name, 24)];
    const { colour, marker: kind } = look(system);
    c.area.append(marker(kind, x, y, 5, { class: "dot", tabindex: "0", style: `fill:${colour}`,
      "data-tip": `${systems[system].name}: ${formatValue(value)} in ${formatSeconds(seconds)}` }));
    const place = freePlace(x, y, text, taken, c);
    if (!place) continue;
    taken.push(place.box);
    c.area.append(shape("text", { class: "label", x: place.x, y: place.y, style: `fill:${colour}` }, text));
  }
  const untimed = order.filter((system) => !timed.some((point) => point.system === system)).map((system) => systems[system].name);
  body.replaceChildren(...[
    element("div", { class: "figure" }, saveButton(), c.node),
    untimed.length > 0 && sentence(`Without a training time: ${untimed.join(", ")}.`),
    !times.one_at_a_time && sentence("Jobs ran in parallel and shared the machine, so compare times only roughly."),
  ].filter(Boolean));
}
