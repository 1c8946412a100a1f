// Requests to the server, and what is remembered of who asks.

/** Where the requests go: beside the directory of this file, so that a proxy may put the server below any path. */
const BASE = new URL("../", import.meta.url);

/** After this time, a person is told that there is no answer. */
const PATIENCE_MS = 15_000;

const TOKEN = "rankwise-token";
const VISITOR = "rankwise-visitor";

/** Why a request failed, as a sentence for people. `status` is 0 where the server did not answer at all. */
export class Failure extends Error {
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get passes() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** A sentence as it stands alone on the page: with a capital letter and a full stop, and names in quotation marks. */
export function asSentence(detail) {
  const quoted = detail.replace(/`([^`]*)`/g, "“$1”");
  const text = quoted.charAt(0).toUpperCase() + quoted.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

async function failureOf(response) {
  const retryAfter = Number(response.headers.get("retry-after")) || null;
  try {
    const { detail } = await response.json();
    return new Failure(response.status, asSentence(detail), retryAfter);
  } catch {
    return new Failure(response.status, `The server answered with status ${response.status} and without a reason.`, retryAfter);
  }
}

function wasAborted(signal) {
  return signal?.aborted && signal.reason?.name !== "TimeoutError";
}

/** Sends a request and returns the JSON of the answer. Throws a `Failure`, or the reason of `signal` if the page gave up. */
export async function request(path, { method = "GET", body, raw, authorized = false, signal, keepalive, patience = PATIENCE_MS } = {}) {
  const headers = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (raw !== undefined) headers["content-type"] = "application/octet-stream";
  if (authorized && token()) headers.authorization = `Bearer ${token()}`;
  const timeout = AbortSignal.timeout(patience);
  let response;
  try {
    response = await fetch(new URL(path, BASE), {
      method, headers, keepalive, body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (response.ok) return await response.json();
  } catch (error) {
    if (wasAborted(signal)) throw error;
    if (timeout.aborted) throw new Failure(0, `The server has not answered for ${patience / 1000} seconds.`);
    throw new Failure(0, "The server cannot be reached. Is it running?");
  }
  throw await failureOf(response);
}

/** The parameters of a query string, without those that are null. */
export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  return `?${new URLSearchParams(given)}`;
}

/** The token, which is forgotten when the tab is closed. */
export const token = () => sessionStorage.getItem(TOKEN);
export const setToken = (value) => sessionStorage.setItem(TOKEN, value);
export const forgetToken = () => sessionStorage.removeItem(TOKEN);

/** A random name of this browser, so that all its searches are answered by the same model. */
export function visitor() {
  let name = localStorage.getItem(VISITOR);
  if (!name) {
    name = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    localStorage.setItem(VISITOR, name);
  }
  return name;
}
