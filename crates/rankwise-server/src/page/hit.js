// A document in a list of results.

import { request } from "./api.js";
import { button, element, formatShort, formatValue } from "./dom.js";
import { whyHere } from "./why.js";

/** A document of a list; `moves` names the other list where there are two. */
export function hitItem(hit, list, moves) {
  const whole = wholeText(hit);
  const open = () => {
    whole.hidden = !whole.hidden;
    heading.setAttribute("aria-expanded", String(!whole.hidden));
    if (!whole.hidden) sendClick(hit, list);
  };
  const heading = button(titleOf(hit), open, { class: "title", "aria-expanded": "false" });
  const item = element("li", { class: "hit", "data-id": hit.id },
    element("span", { class: "rank", "aria-hidden": "true" }, hit.rank),
    element("div", { class: "content" },
      element("h3", null, heading, moves && moveOf(hit, moves)),
      hit.snippet && element("p", { class: "snippet" }, highlighted(hit.snippet)),
      whole,
      element("p", { class: "facts quiet" },
        element("span", null, "score ", element("b", null, formatValue(hit.score))),
        element("span", null, `BM25 ${formatValue(hit.bm25, 3)}, rank ${hit.bm25_rank}`),
        isBelowDepth(hit, list) && element("span", null, "below the depth of the model, so ordered by BM25"),
        element("span", { class: "id" }, hit.id)),
      whyHere(hit)));
  for (const [event, on] of [["mouseenter", true], ["mouseleave", false], ["focusin", true], ["focusout", false]]) {
    item.addEventListener(event, () => markTwin(item, on));
  }
  return item;
}

/** Names of models have no plus sign: it joins those of which the rankings are interleaved. */
export const isInterleaved = ({ ranker }) => ranker.includes("+");

/** Whether a model orders the list, but was not asked about this document. In an interleaved list, BM25 may be one of the two. */
const isBelowDepth = (hit, list) => !hit.by_model && !isInterleaved(list) && list.hits.some((other) => other.by_model);

/** Marks the same document in the other list. */
function markTwin(item, on) {
  for (const other of item.closest(".lists")?.querySelectorAll(".hit") ?? []) {
    if (other !== item && other.dataset.id === item.dataset.id) other.classList.toggle("twin", on);
  }
}

/** The field with the title: the first of these that a document has. */
const TITLES = ["title", "name", "subject"];
const titleField = (fields) => TITLES.find((name) => typeof fields?.[name] === "string" && fields[name].trim() !== "");

/** The title, or else the id. */
export const titleOf = ({ id, fields }) => fields?.[titleField(fields)] ?? id;

/** A snippet with its matches marked. Ranges count characters of Unicode, of which some take two places in a string. */
export function highlighted({ text, highlights, cut_before: before, cut_after: after }) {
  const characters = Array.from(text);
  const part = (from, to) => characters.slice(from, to).join("");
  const content = [before ? "… " : ""];
  let done = 0;
  for (const [from, to] of highlights) {
    content.push(part(done, from), element("mark", null, part(from, to)));
    done = to;
  }
  return [...content, part(done), after ? " …" : ""];
}

// ---- Moves ----

function moveOf(hit, { against, isSecond }) {
  const other = against.hits.find(({ id }) => id === hit.id);
  const mark = (kind, text, spoken) => element("span", { class: `move ${kind}`, title: spoken },
    element("span", { "aria-hidden": "true" }, text), element("span", { class: "spoken" }, spoken));
  if (!other) {
    return isSecond ? mark("new", "new", `not among the results of ${against.model}`)
      : mark("gone", "gone", `not among the results of ${against.model}`);
  }
  if (!isSecond) return null;
  const up = other.rank - hit.rank;
  const places = `${Math.abs(up)} ${Math.abs(up) === 1 ? "place" : "places"}`;
  if (up > 0) return mark("up", `↑ ${up}`, `${places} higher than in ${against.model}`);
  if (up < 0) return mark("down", `↓ ${-up}`, `${places} lower than in ${against.model}`);
  return mark("same", "=", `at the same place as in ${against.model}`);
}

// ---- The whole document ----

function asText(value) {
  if (Array.isArray(value)) return value.map(asText).join(", ");
  return typeof value === "number" ? formatShort(value) : String(value);
}

/** All fields of a document but its title. The words that a snippet marks are marked in the field that it is from. */
export function fieldList(fields, snippet = null) {
  return element("dl", { class: "fields" }, Object.entries(fields ?? {})
    .filter(([name]) => name !== titleField(fields))
    .map(([name, value]) => [element("dt", null, name), element("dd", null, marked(value, snippet) ?? linkOrText(value))]));
}

/** A text with the matches of a snippet that is a part of it; null for everything else. */
function marked(value, snippet) {
  const at = typeof value === "string" && snippet ? value.indexOf(snippet.text) : -1;
  if (at < 0 || snippet.text === "") return null;
  const inside = { ...snippet, cut_before: false, cut_after: false };
  return [value.slice(0, at), ...highlighted(inside), value.slice(at + snippet.text.length)];
}

/** An address of the web as a link; everything else as text. */
function linkOrText(value) {
  const isLink = typeof value === "string" && /^https?:\/\/\S+$/.test(value);
  return isLink ? element("a", { href: value, rel: "noopener noreferrer", target: "_blank" }, value) : asText(value);
}

function wholeText(hit) {
  return element("div", { class: "whole", hidden: true }, fieldList(hit.fields, hit.snippet));
}

// ---- Clicks ----

/** Tells the server that a document was opened, once per list. */
function sendClick(hit, list) {
  list.clicked ??= new Set();
  if (!list.session || list.clicked.has(hit.id)) return;
  list.clicked.add(hit.id);
  const time = Math.round(performance.now() - list.shownAt) / 1000;
  const body = { session: list.session, clicks: [{ doc: hit.id, time }] };
  // A click that is lost is no reason to disturb who searches; it may be sent again when the document is opened again.
  request("feedback", { method: "POST", body, keepalive: true }).catch(() => list.clicked.delete(hit.id));
}
