// Judgments on their way to the server. They are kept in the browser until the server has acknowledged them.

import { query, request } from "./api.js";

const KEY = "rankwise-judgments";

/** Held by the tab that sends, so that two tabs do not send the same judgment. */
const LOCK = "rankwise-judgments";

/** The judgments that wait: { query, document, judge, grade, note, sent }, the oldest first. A null grade takes back. */
export function waiting() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

const store = (list) => localStorage.setItem(KEY, JSON.stringify(list));

const isSame = (a, b) => a.key === b.key;

/** Adds a judgment to those that wait. */
export function add(judgment) {
  store([...waiting(), { ...judgment, key: `${Date.now()}-${Math.random()}`, sent: false }]);
}

/** Removes the last judgment that waits, if the server cannot have it yet. Returns whether that was possible. */
export function removeUnsent(of, document) {
  const list = waiting();
  const last = list.at(-1);
  if (!last || last.sent || last.query !== of || last.document !== document) return false;
  store(list.slice(0, -1));
  return true;
}

/** Sends what waits, one after the other. Throws the `Failure` of the first that the server does not take. */
export async function flush() {
  // Browsers have locks only where the connection is safe.
  if (navigator.locks) return navigator.locks.request(LOCK, sendAll);
  return sendAll();
}

async function sendAll() {
  for (let list = waiting(); list.length > 0; list = waiting()) {
    const [first] = list;
    if (!first.sent || !(await isThere(first))) {
      store(list.map((one) => (isSame(one, first) ? { ...one, sent: true } : one)));
      await send(first);
    }
    store(waiting().filter((one) => !isSame(one, first)));
  }
}

async function send(judgment) {
  const { query: of, document, judge, grade, note } = judgment;
  try {
    await request("judgments", { method: "POST", authorized: true, body: { query: of, document, judge, grade, note } });
  } catch (failure) {
    // What the server refuses for good would be refused for ever. Without a valid token, it waits for one.
    const isRefused = [400, 404, 413, 415, 422].includes(failure.status);
    if (isRefused) store(waiting().filter((one) => !isSame(one, judgment)));
    // The server has answered, so it is certain that it does not have the judgment.
    else if (failure.status !== 0) store(waiting().map((one) => (isSame(one, judgment) ? { ...one, sent: false } : one)));
    throw failure;
  }
}

/** Whether the server has a judgment whose acknowledgement was lost. */
async function isThere({ query: of, document, judge, grade, note }) {
  const { judgments } = await request(`judgments${query({ judge, query: of, k: 10_000 })}`, { authorized: true });
  const known = judgments.find((judgment) => judgment.document === document);
  return grade === null ? !known : known?.grade === grade && (known.note ?? "") === (note ?? "");
}
