// Judging documents, by keys.

import { request, query, token } from "./api.js";
import { alertBox, button, counted, element, field, sentence } from "./dom.js";
import { fieldList, titleOf } from "./hit.js";
import { add, flush, removeUnsent, waiting } from "./pending.js";
import { forgetButton, keepToken, tokenField } from "./token.js";

export const title = "Judge";

const JUDGE = "rankwise-judge";
const LAST = "rankwise-last-judgment";
const DRAFT = "rankwise-note";
const PASSED = "rankwise-passed";

/** Pauses before what failed is tried again. */
const RETRY_SECONDS = [1, 2, 5, 10, 30];

export function show(place) {
  const view = { place, about: null, task: null, isBusy: false, stopped: false, timer: null, tries: 0 };
  const press = (event) => onKey(view, event);
  document.addEventListener("keydown", press);
  start(view);
  return {
    stop: () => {
      view.stopped = true;
      clearTimeout(view.timer);
      document.removeEventListener("keydown", press);
    },
  };
}

const judgeName = () => localStorage.getItem(JUDGE);

async function start(view) {
  view.place.replaceChildren(sentence("Loading …"));
  try {
    view.about = await request("judge");
  } catch (failure) {
    view.place.replaceChildren(alertBox(failure.message, failure.passes && (() => start(view))));
    return;
  }
  if (judgeName() && token()) begin(view);
  else drawSignIn(view);
}

// ---- Who judges ----

function drawSignIn(view, problem) {
  clearTimeout(view.timer);
  const form = element("form", { class: "panel signin" },
    element("h2", null, "Who judges?"),
    sentence("Your name is stored with your judgments. Ask whoever runs this server for the token."),
    field("Your name", { name: "judge", required: true, maxlength: 64, autocomplete: "name", value: judgeName() ?? "" }),
    tokenField("Token"),
    element("button", { type: "submit", class: "main" }, "Begin"));
  form.onsubmit = (event) => {
    event.preventDefault();
    const name = form.elements.judge.value.trim();
    if (name === "") return;
    localStorage.setItem(JUDGE, name);
    keepToken(form);
    begin(view);
  };
  view.place.replaceChildren(...[problem && alertBox(problem), form, guidelines(view.about, true)].filter(Boolean));
}

function guidelines({ guidelines: text, grades, judges_per_document: judges }, open) {
  return element("details", { class: "panel guidelines", open }, element("summary", null, "Guidelines"),
    text.split(/\n\s*\n/).map((paragraph) => element("p", null, paragraph)),
    element("dl", { class: "grades" }, grades.map(({ grade, name, meaning }) =>
      [element("dt", null, element("kbd", null, grade), ` ${name}`), element("dd", null, meaning)])),
    sentence(`Each document of a query goes to ${counted(judges, "judge")} at most. You are not asked about documents that others have finished.`));
}

// ---- The next document ----

/** Draws the frame, sends what still waits, and asks for a document. */
function begin(view) {
  view.status = element("p", { class: "quiet status", role: "status", "aria-live": "polite" });
  view.trouble = element("div");
  view.work = element("div", { class: "work" });
  view.progress = element("div", { class: "progress" });
  view.place.replaceChildren(element("div", { class: "above" }, view.progress, view.status), view.trouble, view.work, guidelines(view.about, false), footer(view));
  next(view);
}

function footer(view) {
  return element("p", { class: "quiet" }, `You judge as ${judgeName()}. `,
    button("Change", () => drawSignIn(view), { class: "minor" }), " ", forgetButton(() => drawSignIn(view)));
}

/** Sends what waits and shows the next document, or `again`. */
async function next(view, again = null) {
  if (view.stopped) return;
  clearTimeout(view.timer);
  view.isBusy = true;
  try {
    await flush();
    const { task, progress } = await nextTask();
    if (view.stopped) return;
    view.tries = 0;
    view.trouble.replaceChildren();
    view.task = again ?? task;
    drawProgress(view, progress);
    drawTask(view);
  } catch (failure) {
    if (!view.stopped) troubled(view, failure, again);
  }
  view.isBusy = false;
}

/** The next document behind the one that was judged or skipped last; behind the last one comes the first that is left. */
function nextTask() {
  const passed = readPassed();
  const parameters = { judge: judgeName(), after_query: passed?.query, after_document: passed?.document };
  return request(`judge/next${query(parameters)}`, { authorized: true });
}

/** Says what went wrong, and tries again by itself where that may help. */
function troubled(view, failure, again) {
  if (failure.status === 401 || failure.status === 403) return drawSignIn(view, failure.message);
  const kept = waiting().length;
  const text = kept === 0 ? failure.message
    : `${failure.message} ${counted(kept, "judgment is", "judgments are")} not saved yet. This browser keeps what is not saved and sends it again, even after a reload.`;
  view.trouble.replaceChildren(alertBox(text, () => next(view, again)));
  if (!failure.passes) return;
  const seconds = failure.retryAfter ?? RETRY_SECONDS[Math.min(view.tries, RETRY_SECONDS.length - 1)];
  view.tries += 1;
  view.timer = setTimeout(() => next(view, again), seconds * 1000);
}

function drawProgress(view, { judged, left }) {
  const all = judged + left;
  view.progress.replaceChildren(
    element("progress", { max: Math.max(1, all), value: judged, "aria-label": "Progress" }),
    element("p", { class: "quiet" }, `${judged} judged by you, ${left} left.`));
}

// ---- The document ----

function drawTask(view) {
  const { task } = view;
  if (!task) return drawEnd(view);
  const heading = element("h2", { tabindex: "-1" }, element("span", { class: "kind" }, "Query"), ` ${task.query.text}`);
  const draft = readDraft(task);
  const note = element("input", { name: "note", maxlength: 2000, autocomplete: "off", value: draft, oninput: () => keepDraft(task, note.value) });
  view.note = note;
  note.addEventListener("keydown", ({ key }) => ["Enter", "Escape"].includes(key) && heading.focus());
  view.work.replaceChildren(
    element("article", { class: "panel document" }, heading,
      element("h3", null, titleOf(task.document)),
      fieldList(task.document.fields, task.document.snippet)),
    element("div", { class: "decide" },
      element("div", { class: "buttons", role: "group", "aria-label": "Grade" }, view.about.grades.map((grade) => gradeButton(view, grade))),
      element("label", { class: "field" }, element("span", null, "Note (optional) ", element("kbd", null, "N")), note),
      element("div", { class: "line" },
        button(["Skip ", element("kbd", null, "S")], () => skip(view)),
        button(["Undo ", element("kbd", null, "U")], () => undo(view), { class: "undo", disabled: readLast() === null }))));
  heading.focus();
}

function drawEnd(view) {
  view.work.replaceChildren(element("div", { class: "panel" }, element("h2", { tabindex: "-1" }, "That was the last one"),
    sentence("There is nothing left for you to judge. Thank you."),
    button("Undo the last one", () => undo(view), { disabled: readLast() === null })));
}

function gradeButton(view, { grade, name, meaning }) {
  return element("button", { type: "button", class: "grade", "data-grade": grade, title: meaning, onclick: () => judge(view, grade) },
    element("kbd", null, grade), element("span", null, name));
}

// ---- What the judge does ----

async function judge(view, grade) {
  const { task } = view;
  if (view.isBusy || !task) return;
  const known = view.about.grades.find((one) => one.grade === grade);
  if (!known) {
    const grades = view.about.grades.map((one) => one.grade);
    view.status.textContent = `Grades go from ${Math.min(...grades)} to ${Math.max(...grades)}.`;
    return;
  }
  const note = view.note.value.replace(/\s+/g, " ").trim();
  add({ query: task.query.id, document: task.document.id, judge: judgeName(), grade, note: note === "" ? null : note });
  keepLast({ task, note, judge: judgeName() });
  keepPassed(task);
  sessionStorage.removeItem(DRAFT);
  view.task = null;
  view.status.textContent = "Saving …";
  await next(view);
  if (waiting().length === 0) view.status.textContent = `Saved: ${grade}, ${known.name}.`;
}

async function undo(view) {
  const last = readLast();
  if (view.isBusy || last === null) return;
  const { task, note } = last;
  if (!removeUnsent(task.query.id, task.document.id)) {
    add({ query: task.query.id, document: task.document.id, judge: judgeName(), grade: null, note: null });
  }
  localStorage.removeItem(LAST);
  sessionStorage.removeItem(PASSED);
  keepDraft(task, note);
  await next(view, task);
  if (waiting().length === 0) view.status.textContent = "Taken back. Judge it again.";
}

/** Leaves this document for later. */
async function skip(view) {
  const { task } = view;
  if (view.isBusy || !task) return;
  keepPassed(task);
  await next(view);
  if (view.trouble.childElementCount > 0) return;
  const isSame = view.task !== null && keyOf(view.task) === keyOf(task);
  view.status.textContent = isSame ? "There is no other document left." : "Skipped. It comes back at the end.";
}

function onKey(view, event) {
  const isTyping = event.target.closest?.("input, select, textarea");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !view.work?.isConnected) return;
  const key = event.key.toLowerCase();
  if (/^[0-9]$/.test(key)) judge(view, Number(key));
  else if (key === "u") undo(view);
  else if (key === "s") skip(view);
  else if (key === "n" && view.note?.isConnected) {
    event.preventDefault();
    view.note.focus();
  }
}

// ---- What survives a reload ----

/** The last judgment of this judge, which can be taken back. */
function readLast() {
  const last = JSON.parse(localStorage.getItem(LAST));
  return last?.judge === judgeName() ? last : null;
}

const keepLast = (last) => localStorage.setItem(LAST, JSON.stringify(last));

/** The document that was judged or skipped last. */
const readPassed = () => JSON.parse(sessionStorage.getItem(PASSED));
const keepPassed = ({ query: { id }, document }) => sessionStorage.setItem(PASSED, JSON.stringify({ query: id, document: document.id }));

const keyOf = ({ query: { id }, document }) => JSON.stringify([id, document.id]);
const keepDraft = (task, text) => sessionStorage.setItem(DRAFT, JSON.stringify({ key: keyOf(task), text }));

function readDraft(task) {
  const draft = JSON.parse(sessionStorage.getItem(DRAFT));
  return draft?.key === keyOf(task) ? draft.text : "";
}
