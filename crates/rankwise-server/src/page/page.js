// The frame of the page: which view is shown, and light and dark.

import { button, element } from "./dom.js";
import { address, readAddress } from "./address.js";
import { setToken } from "./api.js";
import * as judge from "./judge.js";
import * as leaderboard from "./leaderboard.js";
import * as live from "./live.js";
import * as models from "./models.js";
import * as search from "./search.js";

/** The views. `show` fills a place and returns what to do when the address changes (`update`) and when it is left (`stop`). */
const VIEWS = { search, judge, leaderboard, live, models };

const main = document.getElementById("main");
let shown = null;

function drawLinks(current) {
  const links = Object.entries(VIEWS).map(([name, { title }]) =>
    element("a", { href: address(name), "aria-current": name === current ? "page" : null }, title));
  const nav = document.querySelector("header nav");
  nav.replaceChildren(...links);
  // On a phone the row of links scrolls. After `scrollIntoView` the Tab key would go on from the link in some browsers.
  const [row, link] = [nav, nav.querySelector("[aria-current]")].map((node) => node.getBoundingClientRect());
  nav.scrollLeft += (link.left + link.right - row.left - row.right) / 2;
}

/** Keeps the token of an address, as the server prints it, and takes it out of the address, which may be shared. */
function takeToken() {
  const { view, parameters } = readAddress(Object.keys(VIEWS));
  const token = parameters.get("token");
  if (token === null) return;
  setToken(token);
  parameters.delete("token");
  history.replaceState(null, "", address(view, Object.fromEntries(parameters)));
}

function draw() {
  const { view, parameters } = readAddress(Object.keys(VIEWS));
  if (shown?.name === view && shown.update) return shown.update(parameters);
  const moved = shown !== null;
  shown?.stop?.();
  const heading = element("h1", { tabindex: "-1" }, VIEWS[view].title);
  const place = element("div", { class: `view ${view}` });
  main.replaceChildren(heading, place);
  document.title = `${VIEWS[view].title} · Rankwise`;
  drawLinks(view);
  shown = { name: view, ...VIEWS[view].show(place, parameters) };
  // Whoever has followed a link continues at the top of what it led to.
  if (moved) heading.focus();
}

// ---- Light and dark: as the system is set, unless the reader has chosen ----

const THEME = "rankwise-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const chosen = localStorage.getItem(THEME);
  const theme = chosen ?? (prefersDark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  const flip = button(other === "dark" ? "Dark" : "Light", () => {
    localStorage.setItem(THEME, other);
    showTheme();
    document.getElementById("theme").focus();
  }, { id: "theme", "aria-label": `Use ${other} colours` });
  document.getElementById("theme").replaceWith(flip);
}

document.getElementById("skip").addEventListener("click", (event) => {
  // The address names the view, so the link must not change it.
  event.preventDefault();
  main.focus();
});
prefersDark.addEventListener("change", showTheme);
addEventListener("hashchange", draw);
showTheme();
takeToken();
draw();
