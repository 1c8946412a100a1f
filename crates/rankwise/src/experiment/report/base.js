"use strict";
// The findings, the reader's choices, and small helpers that the other scripts use.

const { findings, times, seed } = JSON.parse(document.getElementById("findings").textContent);
const systems = findings.systems;
const selectionIndex = findings.metrics.indexOf(findings.selection);

/** Metrics that tables show: those asked for, and always the selection metric. */
const shownMetrics = findings.metrics
  .map((_, metric) => metric)
  .filter((metric) => metric < findings.shown || metric === selectionIndex);

/** A difference with an adjusted p below this level is significant. */
const LEVEL = 0.05;

/** Values that differ by no more than this count as equal, as in the library. */
const TIE = 1e-12;

/** The views: each data set, and all of them together where there are several. */
const views = findings.data.map((data) => ({ key: data.name, name: data.name, standing: data.standing, data, sets: [data] }));
if (findings.pooled) {
  views.push({ key: "(all)", name: "All together", standing: findings.pooled, data: null, sets: findings.data });
}

// ---- Choices: kept in the address after #, so that a view can be linked. ----

let choices = new URLSearchParams(location.hash.slice(1));

/** Remembers a choice; null forgets it. */
function choose(key, value) {
  choices.delete(key);
  for (const one of value === null ? [] : [value].flat()) choices.append(key, one);
  history.replaceState(null, "", `#${choices}`);
}

function chosenView() {
  return views.find((view) => view.key === choices.get("data")) ?? views[0];
}

/** The number of the system named in a choice, if it has values in this view; otherwise the fallback. */
function chosenSystem(key, view, fallback) {
  const named = systems.findIndex((system) => system.name === choices.get(key));
  return view.standing.order.includes(named) ? named : fallback;
}

// ---- Looking things up ----

/** The selection metric on every query of a view. */
function queryValues(view, system) {
  return view.sets.flatMap((data) => {
    const values = data.systems[system]?.values[selectionIndex] ?? [];
    return data.query_ids.map((_, query) => values[query] ?? null);
  });
}

function queryNames(view) {
  return view.sets.flatMap((data) => data.query_ids.map((id) => (view.data ? id : `${data.name} ${id}`)));
}

/** Seconds of training in a view; null where they are unknown for any of its data sets. */
function trainSeconds(view, system) {
  const found = view.sets.map((data) =>
    times.systems.find((time) => time.data === data.name && time.system === systems[system].name)?.train_seconds ?? null);
  return found.length === 0 || found.includes(null) ? null : sum(found);
}

/** The baseline: the one the findings name, or the best system where that one failed. */
function defaultBaseline(view) {
  const order = view.standing.order;
  return order.includes(findings.baseline) ? findings.baseline : order[0];
}

const isExternal = (system) => systems[system].learner === null;
const wasCutShort = (view, system) => view.sets.some((data) => data.systems[system]?.cut_short);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const mean = (numbers) => sum(numbers) / numbers.length;
// Not Math.min(...numbers): a function takes no more than some ten thousands of arguments.
const least = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);
const most = (numbers) => numbers.reduce((a, b) => Math.max(a, b), -Infinity);
const isNumber = Number.isFinite;

function groupBy(list, keyOf) {
  const groups = new Map();
  for (const item of list) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

// ---- Writing numbers ----

const MINUS = "\u2212";

function formatValue(value, digits = 4) {
  return isNumber(value) ? value.toFixed(digits).replace("-", MINUS) : "–";
}

function formatDifference(value, digits = 4) {
  if (!isNumber(value)) return "–";
  return (value > 0 ? "+" : "") + formatValue(value, digits);
}

function formatP(p) {
  if (!isNumber(p)) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** Thin spaces between thousands. */
function formatCount(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

function formatSeconds(seconds) {
  if (!isNumber(seconds)) return "–";
  if (seconds < 0.0095) return `${(seconds * 1000).toPrecision(2)} ms`;
  if (seconds < 0.95) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 99.5) return `${seconds.toPrecision(3)} s`;
  if (seconds < 5970) return `${(seconds / 60).toPrecision(3)} min`;
  return `${(seconds / 3600).toPrecision(3)} h`;
}

/** Any number, short: for axes and parameters. */
function formatShort(value) {
  if (typeof value !== "number") return typeof value === "string" ? value : JSON.stringify(value);
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5)
    ? value.toExponential().replace(/(\.\d{2})\d*e/, "$1e").replace("e+", "e")
    : String(Number(value.toPrecision(5)));
  return text.replaceAll("-", MINUS);
}

const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const counted = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;

// ---- Building the page: names enter only as text nodes and attributes, never as markup. ----

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const element = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

/** A table in a container of its own to scroll in, with a hint where it is wider than the screen. */
function scrollingTable(attributes, label, ...children) {
  const hint = element("p", { class: "hint", hidden: true, "aria-hidden": "true" }, "Scroll sideways to see all columns →");
  const box = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", attributes, ...children));
  new ResizeObserver(() => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
  return element("div", { class: "table" }, hint, box);
}

const sentence = (text) => element("p", { class: "quiet" }, text);

/** A labelled choice among systems or words; `options` are [value, text] pairs. */
function picker(label, options, selected, onPick) {
  const select = element("select", { onchange: (event) => onPick(event.target.value) },
    options.map(([value, text]) => element("option", { value, selected: value === selected }, text)));
  return element("label", { class: "picker" }, element("span", null, label), select);
}

function systemPicker(label, numbers, selected, onPick) {
  const options = numbers.map((system) => [systems[system].name, systems[system].name]);
  return picker(label, options, systems[selected]?.name, onPick);
}
