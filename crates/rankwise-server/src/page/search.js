// Searching, with one model or two side by side.

import { address, go } from "./address.js";
import { asSentence, query, request, visitor } from "./api.js";
import { alertBox, counted, element, field, picker, sentence } from "./dom.js";
import { hitItem, isInterleaved } from "./hit.js";

export const title = "Search";

/** What is chosen unless the address says otherwise. */
const DEFAULTS = { q: "", k: "10", a: "", b: "" };
const RESULTS = ["5", "10", "20", "50", "100"];

/** After this time, a person is told that the search goes on. */
const SLOW_MS = 700;

/** How many queries are suggested. */
const SUGGESTED = 5;

export function show(place, parameters) {
  const results = element("div", { class: "results" });
  const status = element("p", { class: "quiet status", role: "status", "aria-live": "polite" });
  const view = { results, status, models: [], current: null };
  view.form = makeForm(view);
  place.append(view.form, status, results);
  const update = (changed) => {
    view.asked = readQuestion(changed);
    fillForm(view);
    run(view);
  };
  update(parameters);
  loadModels(view);
  if (view.asked.q === "") view.form.elements.q.focus();
  return { update, stop: () => view.current?.abort() };
}

function readQuestion(parameters) {
  const asked = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, parameters.get(name) ?? DEFAULTS[name]]));
  return { ...asked, k: RESULTS.includes(asked.k) ? asked.k : DEFAULTS.k };
}

async function loadModels(view) {
  try {
    view.models = (await request("models")).models;
    fillForm(view);
  } catch (failure) {
    view.status.textContent = `The names of the models could not be read. ${failure.message}`;
  }
}

// ---- The form ----

function makeForm(view) {
  const form = element("form", { role: "search" });
  const submit = (event) => {
    event.preventDefault();
    const value = (name) => form.elements[name].value.trim();
    ask(view, { q: value("q"), k: value("k"), a: value("a"), b: value("b") });
  };
  form.onsubmit = submit;
  form.append(
    element("div", { class: "searchbox" },
      element("input", { type: "search", name: "q", "aria-label": "Query", placeholder: "Search the documents", autocomplete: "off", maxlength: 4096 }),
      element("button", { type: "submit", class: "main" }, "Search")),
    element("div", { class: "controls" },
      picker("Model", [], null, { name: "a", onchange: submit }),
      picker("Compare with", [], null, { name: "b", onchange: submit }),
      picker("Results", RESULTS.map((k) => [k, k]), null, { name: "k", onchange: submit })));
  return form;
}

/** Shows in the form what is asked. What somebody is typing stays until something else is asked. */
function fillForm({ form, asked, models }) {
  const { q, k, a, b } = form.elements;
  if (q.dataset.asked !== asked.q) q.value = asked.q;
  q.dataset.asked = asked.q;
  k.value = asked.k;
  // A model that the server does not have is offered all the same: the server's answer says that it is missing.
  const names = [...new Set([...models.map(({ name }) => name), asked.a, asked.b])].filter((name) => name !== "");
  for (const [select, none, chosen] of [[a, "as the server chooses", asked.a], [b, "none", asked.b]]) {
    select.replaceChildren(...[["", none], ...names.map((name) => [name, name])].map(([value, text]) =>
      element("option", { value, selected: value === chosen }, text)));
  }
}

/** Puts the question into the address, which starts the search; the same question is asked once more. */
function ask(view, asked) {
  const different = Object.entries(asked).filter(([name, value]) => value !== DEFAULTS[name]);
  if (!go("search", Object.fromEntries(different))) run(view);
}

// ---- Searching ----

async function run(view) {
  view.current?.abort();
  const { asked, results, status } = view;
  document.title = asked.q === "" ? `${title} · Rankwise` : `${asked.q} · Rankwise`;
  if (asked.q === "") return drawEmpty(view);
  const control = new AbortController();
  view.current = control;
  results.setAttribute("aria-busy", "true");
  status.textContent = "Searching …";
  const slow = setTimeout(() => { status.textContent = "Still searching. The server is slow to answer …"; }, SLOW_MS);
  try {
    const names = asked.b === "" ? [asked.a] : [asked.a, asked.b];
    const answers = await Promise.all(names.map((name) => search(asked, name, control.signal)));
    const lists = answers.map((answer) => ({ ...answer, shownAt: performance.now() }));
    drawLists(view, lists);
  } catch (failure) {
    if (control.signal.aborted) return;
    status.textContent = "";
    results.replaceChildren(alertBox(failure.message, failure.passes && (() => run(view))));
  } finally {
    clearTimeout(slow);
    if (view.current === control) results.removeAttribute("aria-busy");
  }
}

/** Lists side by side are compared, not used: what is clicked there says nothing about either model, so they are not logged. */
const search = ({ q, k, b }, model, signal) =>
  request(`search${query({ q, k, model: model || null, user: visitor(), explain: 1, snippets: 1, log: b === "" ? null : 0 })}`, { signal });

async function drawEmpty(view) {
  view.status.textContent = "Type what you are looking for.";
  view.results.replaceChildren();
  view.results.removeAttribute("aria-busy");
  // Only a server that collects judgments knows queries that people ask.
  const { queries } = await request("judge").catch(() => ({ queries: [] }));
  if (view.asked.q !== "" || queries.length === 0) return;
  const step = Math.max(1, Math.floor(queries.length / SUGGESTED));
  const some = queries.filter((_, at) => at % step === 0).slice(0, SUGGESTED);
  view.results.replaceChildren(sentence("For example:"), element("ul", { class: "examples" },
    some.map(({ text }) => element("li", null, element("a", { href: address("search", { q: text }) }, text)))));
}

// ---- The lists ----

function drawLists(view, lists) {
  const { asked, results, status } = view;
  status.textContent = summary(asked, lists);
  const columns = lists.map((list, at) => column(list, lists.length === 2 ? lists[1 - at] : null, at));
  results.replaceChildren(element("div", { class: lists.length === 2 ? "lists two" : "lists" }, columns), whyNot(asked, lists));
}

const found = (list) => counted(list.hits.length, "document");

/** What was found, and how far the two lists differ. */
function summary({ q }, lists) {
  if (lists.every(({ hits }) => hits.length === 0)) {
    return `No document matches “${q}”. Try other or fewer words.`;
  }
  if (lists.length === 1) return rankedBy(lists[0]);
  const [a, b] = lists;
  const ranks = new Map(a.hits.map(({ id, rank }) => [id, rank]));
  const added = b.hits.filter(({ id }) => !ranks.has(id)).length;
  const moved = b.hits.filter(({ id, rank }) => ranks.has(id) && ranks.get(id) !== rank).length;
  if (added + moved === 0 && a.hits.length === b.hits.length) return `Both models show the same ${found(b)} in the same order.`;
  return `Compared with ${a.model}, ${moved} of the ${counted(b.hits.length, "document")} of ${b.model} moved and ${added} ${added === 1 ? "is" : "are"} new.`;
}

const rankedBy = (list) => `${found(list)}, ranked by ${list.model}.`
  + (isInterleaved(list) ? " The two rankings are interleaved; each score is that of the model that chose the document." : "");

function column(list, other, at) {
  const letter = other && element("span", { class: "letter", "aria-hidden": "true" }, "AB"[at]);
  const head = element("h2", null, letter, list.model);
  const versions = isInterleaved(list) ? list.ranker.replace("+", " and ") : `version ${list.version}`;
  const facts = `${versions}, ${list.took_ms.toFixed(1)} ms`;
  const moves = other && { against: other, isSecond: at === 1 };
  const items = list.hits.map((hit) => hitItem(hit, list, moves));
  return element("section", { class: "list", "aria-label": `Results of ${list.model}` },
    element("div", { class: "listhead" }, head, element("span", { class: "quiet" }, facts)),
    items.length === 0 ? sentence("Nothing found.") : element("ol", { class: "hits" }, items));
}

// ---- Why is a document not here? ----

function whyNot(asked, lists) {
  const answers = element("div", { role: "status", "aria-live": "polite" });
  const form = element("form", { class: "line" },
    field("Id of the document", { name: "id", required: true, autocomplete: "off", maxlength: 1024 }),
    element("button", { type: "submit" }, "Ask"));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const id = form.elements.id.value.trim();
    if (id === "") return;
    answers.replaceChildren(sentence("Looking …"));
    try {
      const names = asked.b === "" ? [asked.a] : [asked.a, asked.b];
      const all = await Promise.all(names.map((name) => askWhyNot(asked, name, id)));
      answers.replaceChildren(...all.map(({ why_not: why }, at) => element("p", null,
        all.length === 2 && element("b", null, `${lists[at].model}: `), asSentence(why.sentence))));
    } catch (failure) {
      answers.replaceChildren(alertBox(failure.message));
    }
  };
  return element("details", { class: "whynot" }, element("summary", null, "Why is a document not here?"), form, answers);
}

const askWhyNot = ({ q, k }, model, id) =>
  request(`search${query({ q, k, model: model || null, user: visitor(), why_not: id })}`);
