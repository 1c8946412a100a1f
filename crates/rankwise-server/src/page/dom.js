// Building the page, and writing numbers. Names and texts enter only as text nodes and attributes, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const element = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
export const shape = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

export const sentence = (...content) => element("p", { class: "quiet" }, ...content);
export const button = (text, onclick, attributes) => element("button", { type: "button", onclick, ...attributes }, text);

/** Something that went wrong, with a way to try again where that may help. */
export function alertBox(text, tryAgain) {
  return element("div", { class: "alert", role: "alert" }, element("p", null, text),
    tryAgain && button("Try again", tryAgain));
}

/** A labelled choice; `options` are [value, text] pairs. */
export function picker(label, options, selected, attributes) {
  const select = element("select", attributes, options.map(([value, text]) =>
    element("option", { value, selected: value === selected }, text)));
  return element("label", { class: "picker" }, element("span", null, label), select);
}

/** A labelled line to type in. */
export function field(label, attributes) {
  return element("label", { class: "field" }, element("span", null, label), element("input", attributes));
}

/** A table in a container of its own to scroll in, with a hint where it is wider than the screen. `rows` are lists of cells; the first cell of a row is its heading. */
export function table(label, heads, rows, attributes) {
  const head = element("tr", null, heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...cells]) => element("tr", null,
    element("th", { scope: "row" }, first), cells.map((cell) => element("td", null, cell))));
  const hint = element("p", { class: "hint", hidden: true, "aria-hidden": "true" }, "Scroll sideways to see all columns →");
  const box = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", attributes, element("thead", null, head), element("tbody", null, body)));
  new ResizeObserver(() => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
  return element("div", { class: "table" }, hint, box);
}

/** A name of parts, as `bm25.title`, that may be broken behind each dot. */
export const breakable = (name) => name.split(/(?<=\.)/).flatMap((part) => [part, element("wbr")]).slice(0, -1);

export const fact = (name, value) => element("div", null, element("dt", null, name), element("dd", null, value));
export const tag = (text, kind = "", title = null) => element("span", { class: `tag ${kind}`, title }, text);

// ---- Writing numbers ----

const MINUS = "\u2212";
export const isNumber = Number.isFinite;

export function formatValue(value, digits = 4) {
  return isNumber(value) ? value.toFixed(digits).replace("-", MINUS) : "–";
}

export function formatDifference(value, digits = 4) {
  return isNumber(value) && value > 0 ? `+${formatValue(value, digits)}` : formatValue(value, digits);
}

export function formatP(p) {
  if (!isNumber(p)) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

export const formatPercent = (fraction, digits = 1) => (isNumber(fraction) ? `${(fraction * 100).toFixed(digits)} %` : "–");

/** Thin spaces between thousands. */
export const formatCount = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u2009");

export const counted = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;

/** Any number, short: for raw features. */
export function formatShort(value) {
  if (!isNumber(value)) return "missing";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e7)
    ? value.toExponential(2).replace("e+", "e") : String(Number(value.toPrecision(5)));
  return text.replaceAll("-", MINUS);
}

/** An interval from low to high. */
export const formatInterval = ({ low, high }, format) => `${format(low)} to ${format(high)}`;
