// What changes on the server while somebody looks.

import { request } from "./api.js";
import { alertBox, sentence } from "./dom.js";

/**
 * Shows what the server answers to `path`, asks again every few seconds while the page is seen, and draws again when the
 * answer is another one. `contents` makes the nodes of an answer; `onAnswer` is called for each. Returns what stops it.
 */
export function follow(place, path, seconds, contents, onAnswer = () => {}) {
  let known = null;
  const draw = (state, nodes) => {
    if (state !== known) place.replaceChildren(...nodes());
    known = state;
  };
  /** Whether it is worth asking again. */
  const ask = async () => {
    try {
      const answer = await request(path);
      draw(JSON.stringify(answer), () => contents(answer));
      onAnswer();
      return true;
    } catch (failure) {
      draw(failure.message, () => [alertBox(failure.message)]);
      return failure.passes;
    }
  };
  place.replaceChildren(sentence("Loading …"));
  return repeatWhileSeen(seconds, ask);
}

/** Calls `work` now and every few seconds while the page is seen, until it returns false. */
function repeatWhileSeen(seconds, work) {
  let timer = null;
  let hasEnded = false;
  const next = async () => {
    timer = null;
    if (!document.hidden && !(await work())) stop();
    if (!hasEnded) timer = setTimeout(next, seconds * 1000);
  };
  const refresh = () => {
    if (document.hidden || timer === null) return;
    clearTimeout(timer);
    next();
  };
  const stop = () => {
    hasEnded = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", refresh);
  };
  document.addEventListener("visibilitychange", refresh);
  next();
  return { stop };
}
