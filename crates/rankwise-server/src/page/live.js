// What clicks say while they come in.

import { intervalPlot, proportions, rangeOf } from "./chart.js";
import { button, counted, element, fact, formatCount, formatInterval, formatP, formatPercent, sentence, table } from "./dom.js";
import { follow } from "./follow.js";

export const title = "Live";

const REFRESH_SECONDS = 3;

export function show(place) {
  const contents = element("div");
  const state = element("span", { class: "quiet" });
  const unfolded = new Set();
  const answered = () => { state.textContent = `As of ${new Date().toLocaleTimeString()}; refreshed every ${REFRESH_SECONDS} seconds while this page is seen.`; };
  const start = () => follow(contents, "live", REFRESH_SECONDS, (live) => drawn(live, unfolded), answered);
  let following = start();
  let isPaused = false;
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Go on" : "Pause";
    following.stop();
    if (isPaused) state.textContent = "Paused.";
    else following = start();
  });
  place.append(element("div", { class: "line" }, pause, state), contents);
  return { stop: () => following.stop() };
}

/** Everything, as it stands now; `unfolded` names the rankers whose ranks the reader has unfolded. */
function drawn({ rankers, interleaving }, unfolded) {
  if (rankers.length === 0) return [element("p", { class: "verdict" }, "No list has been shown yet."), sentence("Search for something and open a document.")];
  return [element("h2", null, "Click-through"), ...clickThrough(rankers, unfolded), element("h2", null, "Interleaving"), ...interleaved(interleaving)];
}

// ---- Click-through ----

const percent = (value) => formatPercent(value);

function rateCells(rate, interval, range) {
  return [percent(rate), [intervalPlot(rate, interval, range), element("span", { class: "range" }, formatInterval(interval, percent))]];
}

function clickThrough(rankers, unfolded) {
  const range = rangeOf(rankers.flatMap(({ interval }) => [interval.low, interval.high]));
  const rows = rankers.map(({ ranker, sessions, clicked_sessions: clicked, clicks, click_through: rate, interval }) =>
    [ranker, ...rateCells(rate, interval, range), formatCount(sessions), formatCount(clicked), formatCount(clicks)]);
  return [
    sentence("The fraction of lists on which at least one document was opened."),
    table("Click-through by model", ["Model", "Click-through", "95\u00a0%\u00a0CI", "Lists", "With a click", "Clicks"], rows, { class: "board" }),
    ...rankers.filter(({ by_rank: ranks }) => ranks?.length > 0).map((ranker) => byRank(ranker, unfolded)),
  ];
}

/** How often the document at each rank was opened. */
function byRank({ ranker, by_rank: ranks }, unfolded) {
  const range = rangeOf(ranks.flatMap(({ interval }) => [interval.low, interval.high]));
  const rows = ranks.map(({ rank, shown, clicked, click_through: rate, interval }) =>
    [rank, ...rateCells(rate, interval, range), formatCount(shown), formatCount(clicked)]);
  const remember = ({ target }) => (target.open ? unfolded.add(ranker) : unfolded.delete(ranker));
  return element("details", { open: unfolded.has(ranker), ontoggle: remember }, element("summary", null, `${ranker} by rank`),
    table(`Click-through of ${ranker} by rank`, ["Rank", "Click-through", "95\u00a0%\u00a0CI", "Shown", "Opened"], rows, { class: "board" }));
}

// ---- Interleaving ----

function interleaved(results) {
  if (results.length === 0) {
    return [sentence("No interleaved list was shown yet. To compare two models by clicks, start the server with ", element("code", { class: "whole-word" }, "--interleave A,B"), ".")];
  }
  return results.map(({ rankers: [first, second], sessions, wins, ties, win_rate: rate, interval, p }) => element("section", { class: "panel" },
    element("p", { class: "verdict" }, outcome(first, second, rate, p, wins)),
    element("div", { class: "scoreline" },
      element("span", { class: "count won" }, element("b", null, formatCount(wins[0])), ` for ${first}`),
      element("span", { class: "count tied" }, element("b", null, formatCount(ties)), " ties"),
      element("span", { class: "count lost" }, element("b", null, formatCount(wins[1])), ` for ${second}`)),
    proportions([[wins[0], "won"], [ties, "tied"], [wins[1], "lost"]]),
    element("dl", { class: "numbers" },
      fact("Lists", formatCount(sessions)),
      fact(`Wins of ${first} without ties`, percent(rate)),
      fact("95\u00a0%\u00a0CI", [intervalPlot(rate, interval, [0, 1], 0.5), formatInterval(interval, percent)]),
      fact("p (sign test)", formatP(p)))));
}

function outcome(first, second, rate, p, wins) {
  if (wins[0] + wins[1] === 0) return "No list favours either model yet.";
  const [better, worse] = rate >= 0.5 ? [first, second] : [second, first];
  return p < 0.05 ? `${better} gets more clicks than ${worse}.`
    : `Neither ${first} nor ${second} gets significantly more clicks after ${counted(wins[0] + wins[1], "list that favours one", "lists that favour one")}.`;
}
