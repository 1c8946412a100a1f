// Assembles the page and redraws it when the reader's choices change.

const overallSections = [
  { id: "leaderboard", title: "Leaderboard", draw: drawLeaderboards,
    about: "Best first. The highest value of each column is bold; ≈ marks systems that are not significantly behind the best. Press a heading to sort." },
];

const areCompared = (view) => view.standing.order.length > 1;

/**
 * Sections that show the view chosen; those with `single` make sense for one data set only. A section is left out where
 * `has` says that it would be empty.
 */
const viewSections = [
  { id: "curves", title: "NDCG by depth", short: "NDCG", has: hasCurves, draw: drawCurves, about: "Mean NDCG of the top k documents, for each k." },
  { id: "wins", title: "Wins and losses", short: "Wins", has: areCompared, draw: drawWins, about: "Each bar is a query: above the line the system is better than the baseline, below it is worse." },
  { id: "significance", title: "Significance of differences", short: "Significance", has: (view) => areCompared(view) && view.standing.all_pairs !== null, draw: drawMatrix, about: `Difference of the means of ${findings.selection}, row minus column, and p of the paired randomisation test, with Holm’s correction for all pairs.` },
  { id: "parameters", title: "Parameters", single: true, has: (view) => learnedSystems(view).length > 0, draw: drawSearch, about: "Each dot is a setting tried on one fold; the line shows their mean, and triangles mark chosen values." },
  { id: "training", title: "Training", single: true, has: hasTraining, draw: drawTraining, about: "A thin line per fold." },
  { id: "times", title: "Time and accuracy", short: "Time", has: (view) => timedSystems(view).length > 0, draw: drawTimes, about: "Higher is better; further left is faster." },
  { id: "worst", title: "Worst queries", single: true, has: (view) => systemsWithQueries(view).length > 0, draw: drawWorst, about: "Queries without relevant documents are left out. Labels of the top documents as ranked by the system, and of an ideal ranking. Open a query to see its documents." },
];

const backgroundSections = [
  { id: "data", title: "Data", has: () => findings.data.length > 0, draw: drawData, about: "Sizes and labels of the data sets, after preparation." },
  { id: "expectations", title: "Expected figures", short: "Expected", has: () => findings.expectations.length > 0, draw: drawExpectations, about: "Expected means of the folds’ means, from the experiment file." },
  { id: "reproduce", title: "How to reproduce this", short: "Reproduce", draw: drawMethod },
];

const byId = (id) => document.getElementById(id);

/** Whether a section has something to show; all data sets together show what any of them has. */
function isShown({ has, single }, view) {
  if (!has) return true;
  return single && !view.data ? views.some((other) => other.data && has(other)) : has(view);
}

/** A section drawn into the page; `id` only where it is not a copy for print. */
function drawSection(parent, { id, title, about, single, draw }, view, width, copy = false) {
  const body = element("div", { class: "body" });
  parent.append(element("section", copy ? null : { id, "aria-label": title },
    element("h2", null, title), about && element("p", { class: "quiet" }, about), body));
  if (single && !view.data) body.append(sentence("Choose a single data set to see this."));
  else draw(body, view, width ?? Math.max(260, body.clientWidth));
}

function drawGroup(id, sections, view) {
  byId(id).replaceChildren();
  for (const section of sections.filter((one) => isShown(one, view))) drawSection(byId(id), section, view);
}

/** Radio buttons rather than tabs: the browser itself makes them work from the keyboard. */
function drawChooser() {
  const pick = (event) => {
    choose("data", event.target.value);
    drawContents();
    drawViews();
  };
  const options = views.map((view) => element("label", null,
    element("input", { type: "radio", name: "view", value: view.key, checked: view === chosenView(), onchange: pick }),
    element("span", null, view.name)));
  byId("chooser").replaceChildren(element("fieldset", null, element("legend", null, "Data set"), options));
  byId("chooser").hidden = views.length < 2;
}

function drawViews() {
  const view = chosenView();
  byId("explore").hidden = !view;
  if (view) drawGroup("views", viewSections, view);
}

function jump(id) {
  choose("at", id);
  byId(id)?.scrollIntoView();
}

function drawContents() {
  const view = chosenView();
  const shown = [...overallSections, ...(view ? viewSections : []), ...backgroundSections].filter((section) => isShown(section, view));
  const link = ({ id, title, short = title }) => element("a", { href: `#at=${id}`, "data-jump": id }, short);
  byId("contents").replaceChildren(element("div", { class: "links" }, shown.map(link)),
    element("button", { type: "button", id: "theme", onclick: flipTheme }));
  showTheme();
}

// ---- Light and dark ----

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const theme = choices.get("theme") ?? (prefersDark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Use ${theme === "dark" ? "light" : "dark"} colours`);
}

function flipTheme() {
  choose("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  showTheme();
}

// ---- Print: all data sets are shown, with the choices made on the page. ----

const PAPER_WIDTH = 680;

function drawForPrint() {
  byId("printed").replaceChildren();
  for (const view of views.filter((other) => other !== chosenView())) {
    byId("printed").append(element("h2", { class: "view-name" }, view.name));
    const sections = viewSections.filter((section) => (view.data || !section.single) && isShown(section, view));
    for (const section of sections) drawSection(byId("printed"), section, view, PAPER_WIDTH, true);
  }
}

function drawAll() {
  drawHeader(byId("top"));
  drawContents();
  drawGroup("overall", overallSections);
  drawChooser();
  drawViews();
  drawGroup("background", backgroundSections);
  byId("foot").replaceChildren(`Made by Rankwise ${findings.version}. This file is self-contained and loads nothing from the network.`);
}

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-jump]");
  if (!target) return;
  event.preventDefault();
  jump(target.dataset.jump);
});
addEventListener("hashchange", () => {
  choices = new URLSearchParams(location.hash.slice(1));
  drawAll();
});
prefersDark.addEventListener("change", showTheme);
addEventListener("beforeprint", drawForPrint);
addEventListener("afterprint", () => byId("printed").replaceChildren());

let drawnWidth = document.documentElement.clientWidth;
addEventListener("resize", () => {
  if (document.documentElement.clientWidth === drawnWidth) return;
  drawnWidth = document.documentElement.clientWidth;
  drawViews();
});

drawAll();
if (choices.has("at")) byId(choices.get("at"))?.scrollIntoView();
