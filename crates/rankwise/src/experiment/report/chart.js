// Drawing: scales, axes, marks and tooltips.

const SVG = "http://www.w3.org/2000/svg";
const shape = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

// Systems keep their look on every chart. Colour alone never tells two apart: dashes and markers differ as well.
const COLOURS = 7;
const DASHES = ["none", "7 3", "2 3", "9 3 2 3", "4 2", "12 4"];
const MARKERS = ["circle", "square", "triangle", "diamond"];

function look(system) {
  const round = Math.floor(system / COLOURS);
  return {
    colour: `var(--c${system % COLOURS})`,
    dash: DASHES[round % DASHES.length],
    marker: MARKERS[(system + round) % MARKERS.length],
  };
}

/** A mark of about 2·size across, centred. */
function marker(kind, x, y, size, attributes) {
  const at = (dx, dy) => `${(x + dx * size).toFixed(2)} ${(y + dy * size).toFixed(2)}`;
  const paths = {
    square: `M${at(-0.85, -0.85)}L${at(0.85, -0.85)}L${at(0.85, 0.85)}L${at(-0.85, 0.85)}Z`,
    triangle: `M${at(0, -1.1)}L${at(1.05, 0.8)}L${at(-1.05, 0.8)}Z`,
    diamond: `M${at(0, -1.25)}L${at(1.1, 0)}L${at(0, 1.25)}L${at(-1.1, 0)}Z`,
  };
  return kind === "circle"
    ? shape("circle", { cx: x.toFixed(2), cy: y.toFixed(2), r: size, ...attributes })
    : shape("path", { d: paths[kind], ...attributes });
}

// ---- Scales ----

function roundTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function powerTicks(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) return roundTicks(low, high, count).filter((tick) => tick > 0);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(Number((10 ** power).toPrecision(12)));
  return ticks;
}

/** Maps values of a range onto pixels. */
function scale([low, high], from, to, { log = false, count = 5 } = {}) {
  const inner = log ? Math.log10 : (value) => value;
  const place = (value) => from + ((inner(value) - inner(low)) / (inner(high) - inner(low))) * (to - from);
  place.ticks = log ? powerTicks(low, high, count) : roundTicks(low, high, count);
  return place;
}

/** The range of the values with some air; never empty. */
function airy(values, { log = false, air = 0.06 } = {}) {
  if (values.length === 0) return log ? [0.1, 10] : [0, 1];
  const [low, high] = [least(values), most(values)];
  if (log) {
    const factor = low === high ? 2 : (high / low) ** air;
    return [low / factor, high * factor];
  }
  const space = low === high ? Math.abs(low) * 0.05 || 0.05 : (high - low) * air;
  return [low - space, high + space];
}

// ---- Charts ----

/** The room for a drawing inside a framed figure. */
const innerWidthOf = (width) => width - (width >= 620 ? 34 : 18);

const textWidth = (text, size = 12) => text.length * size * 0.58;

/** The least space between two labels of an axis. */
const LABEL_GAP = 6;

/**
 * An empty chart with grid and axes. `x` and `y` are { range, log, title, ticks, format, line }; marks go into `area`.
 * The drawing scales with its container, so that it prints at any width.
 */
function chart({ width, height, label, x, y, right = 12, top = 12 }) {
  const yCount = Math.max(2, Math.round(height / 55));
  const yFormat = y.format ?? formatShort;
  const draftTicks = scale(y.range, 1, 0, { log: y.log, count: yCount }).ticks;
  const left = most([30, ...draftTicks.map((tick) => textWidth(yFormat(tick), 11) + 12)]);
  const bottom = height - (x.title ? 42 : 26);
  const toX = scale(x.range, left, width - right, { log: x.log, count: Math.max(2, Math.round((width - left - right) / 80)) });
  const toY = scale(y.range, bottom, top, { log: y.log, count: yCount });
  const area = shape("g");
  const grid = shape("g", { class: "grid" });
  for (const tick of toY.ticks) {
    const at = toY(tick).toFixed(1);
    grid.append(shape("line", { x1: left, x2: width - right, y1: at, y2: at }),
      shape("text", { x: left - 7, y: at, dy: "0.32em", "text-anchor": "end" }, yFormat(tick)));
  }
  const ticks = (x.ticks ?? toX.ticks).map((tick) => ({ at: toX(tick), text: (x.format ?? formatShort)(tick) }));
  for (const { at } of ticks) grid.append(shape("line", { class: "tick", x1: at, x2: at, y1: bottom, y2: bottom + 4 }));
  for (const { at, text, anchor } of readableLabels(ticks, width)) {
    grid.append(shape("text", { x: at, y: bottom + 17, "text-anchor": anchor }, text));
  }
  if (x.line !== false) grid.append(shape("line", { class: "base", x1: left, x2: width - right, y1: bottom, y2: bottom }));
  if (x.title) grid.append(shape("text", { class: "axis", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, x.title));
  if (y.title) grid.append(shape("text", { class: "axis", x: 0, y: 11 }, y.title));
  const node = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label,
    style: `max-width:${width}px` }, grid, area);
  return { node, area, x: toX, y: toY, left, bottom, right: width - right, top };
}

/**
 * The labels of an axis that can be read: those at the ends first, then each one that keeps its distance from all
 * before it. A label that would stand out of the drawing at the right ends there.
 */
function readableLabels(ticks, width) {
  const box = ({ at, text }) => {
    const half = textWidth(text, 11) / 2;
    const end = at + half > width ? width : at + half;
    return { left: end - 2 * half, right: end };
  };
  const inOrder = ticks.length > 2 ? [ticks[0], ticks.at(-1), ...ticks.slice(1, -1)] : ticks;
  const kept = [];
  for (const tick of inOrder) {
    const own = box(tick);
    if (kept.some(({ left, right }) => own.left < right + LABEL_GAP && own.right > left - LABEL_GAP)) continue;
    const pushed = tick.at + textWidth(tick.text, 11) / 2 > width;
    kept.push({ ...own, text: tick.text, at: pushed ? width : tick.at, anchor: pushed ? "end" : "middle" });
  }
  return kept;
}

function linePath(points) {
  return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

/** Moves label positions apart until they no longer overlap, as little as possible. */
function spread(wanted, gap, low, high) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const placed = [...wanted];
  let next = low;
  for (const i of order) {
    placed[i] = Math.max(placed[i], next);
    next = placed[i] + gap;
  }
  next = high;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i], next);
    next = placed[i] - gap;
  }
  return placed;
}

// ---- Charts as files ----

/** What a style sheet says of a mark, to be written into the mark itself. */
const DRAWN_BY = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "visibility"];

/** A chart as a file of its own, with the page's colours as they are now. */
function standalone(node) {
  const copy = node.cloneNode(true);
  const [{ width, height }, originals] = [node.viewBox.baseVal, [...node.querySelectorAll("*")]];
  [...copy.querySelectorAll("*")].forEach((mark, i) => {
    const style = getComputedStyle(originals[i]);
    mark.removeAttribute("class");
    mark.setAttribute("style", DRAWN_BY.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    for (const name of ["data-tip", "data-system", "tabindex"]) mark.removeAttribute(name);
  });
  for (const name of ["class", "style", "tabindex", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext"]) copy.removeAttribute(name);
  const size = { xmlns: SVG, width, height, role: "img" };
  for (const [name, value] of Object.entries(size)) copy.setAttribute(name, value);
  const page = getComputedStyle(document.documentElement).getPropertyValue("--panel");
  copy.prepend(shape("title", null, node.getAttribute("aria-label")), shape("rect", { width, height, style: `fill:${page}` }));
  return new XMLSerializer().serializeToString(copy);
}

const fileName = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}@.-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 100) || "chart";

/** A button that saves the chart of the figure it stands in. */
function saveButton() {
  const save = (event) => {
    const node = event.currentTarget.closest(".figure, .small").querySelector("svg.chart");
    const address = URL.createObjectURL(new Blob([standalone(node)], { type: "image/svg+xml" }));
    const link = element("a", { href: address, download: `${fileName(`${findings.name} ${node.getAttribute("aria-label")}`)}.svg` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return element("button", { type: "button", class: "save", onclick: save, "aria-label": "Save this chart as SVG" }, "SVG ↓");
}

// ---- Tooltips: explain the mark under the pointer or in focus ----

const tipBox = document.getElementById("tip");

function showTip(target) {
  tipBox.textContent = target.dataset.tip;
  tipBox.hidden = false;
  const mark = target.getBoundingClientRect();
  const box = tipBox.getBoundingClientRect();
  const left = Math.min(Math.max(8, mark.left + mark.width / 2 - box.width / 2), innerWidth - box.width - 8);
  const above = mark.top - box.height - 8;
  tipBox.style.left = `${left}px`;
  tipBox.style.top = `${above > 4 ? above : mark.bottom + 8}px`;
}

function hideTip() {
  tipBox.hidden = true;
}

for (const event of ["pointerover", "focusin"]) {
  document.addEventListener(event, ({ target }) => {
    const explained = target.closest?.("[data-tip]");
    if (explained) showTip(explained);
    else hideTip();
  });
}
document.addEventListener("focusout", hideTip);
document.addEventListener("scroll", hideTip, { passive: true, capture: true });
document.addEventListener("keydown", ({ key }) => key === "Escape" && hideTip());
