// What surrounds the results: heading, problems, data, expected figures, and how to reproduce the experiment.

function fact(name, value) {
  return element("div", null, element("dt", null, name), element("dd", null, value));
}

function problems() {
  const unmet = findings.expectations.filter(({ met }) => !met);
  const box = (kind, heading, items) => items.length > 0 && element("section", { class: `alert ${kind}`, id: kind },
    element("h2", null, heading), element("ul", null, items.map((item) => element("li", null, item))));
  return [
    box("failures", `${counted(findings.failures.length, "job")} failed`, findings.failures),
    box("unmet", `${counted(unmet.length, "expected figure")} not reached`, unmet.map((expectation) =>
      `${expectation.data}, ${expectation.system}, ${expectation.metric}: expected ${formatValue(expectation.value)} within `
      + `${formatShort(expectation.within)}, found ${expectation.found === null ? "nothing" : formatValue(expectation.found)}.`)),
  ].filter(Boolean);
}

function drawHeader(header) {
  const queries = findings.data.map((data) => `${data.name} (${counted(data.standing.queries, "query", "queries")})`);
  header.replaceChildren(
    element("p", { class: "kind" }, "Ranking experiment", findings.name && findings.name !== findings.title ? ` · ${findings.name}` : ""),
    element("h1", null, findings.title || findings.name),
    ...(findings.about ? [element("p", { class: "about" }, findings.about)] : []),
    element("dl", { class: "facts" },
      fact("Data", queries.join(", ") || "none"),
      fact("Systems", formatCount(systems.length)),
      fact("Selected by", findings.selection),
      fact("Preset", findings.preset || "none"),
      fact("Repeats", formatCount(findings.repeats)),
      fact("Seed", seed),
      fact("Rankwise", findings.version)),
    ...problems());
}

// ---- Data ----

function gradesBar({ grades, binned }) {
  const total = sum(grades.map(([, count]) => count));
  if (total === 0) return sentence("There are no documents.");
  const greatest = most([0, ...grades.map(([grade]) => grade)]);
  const named = (grade) => `label ${binned ? "from " : ""}${formatShort(grade)}`;
  const percent = (count) => (100 * count) / total;
  const look = (grade) => `--fraction:${Math.round(greatest > 0 ? 100 * Math.max(0, grade / greatest) : 0)}%`;
  return element("div", { class: "grades" },
    element("div", { class: "bar", "aria-hidden": "true" },
      grades.map(([grade, count]) => element("span", { style: `${look(grade)};flex-grow:${count}`, "data-tip": `${named(grade)}: ${counted(count, "document")}` }))),
    element("ul", { class: "keys" }, grades.map(([grade, count]) =>
      element("li", null, element("span", { class: "key grade-key", style: look(grade) }),
        `${named(grade)}: ${formatCount(count)} (${percent(count).toFixed(1)} %)`))));
}

function notesList(heading, notes) {
  return notes.length > 0 && [element("h4", null, heading), element("ul", { class: "notes" }, notes.map((note) => element("li", null, note)))];
}

function dataCard({ name, summary, folds }) {
  const [least, median, most] = summary.documents_per_query;
  return element("article", { class: "card" },
    element("h3", null, name),
    element("dl", { class: "facts" },
      fact("Queries", formatCount(summary.queries)),
      fact("Documents", formatCount(summary.documents)),
      fact("Features", formatCount(summary.features)),
      fact("Folds", formatCount(folds)),
      fact("Documents per query", `${formatCount(least)} to ${formatCount(most)}, median ${formatShort(median)}`),
      fact("Queries without relevant documents", formatCount(summary.queries_without_relevant))),
    gradesBar(summary),
    notesList("Preparation", summary.preparation), notesList("Notes from reading the files", summary.notes ?? []));
}

function drawData(body) {
  body.replaceChildren(element("div", { class: "cards" }, findings.data.map(dataCard)));
}

// ---- Expectations ----

function drawExpectations(body) {
  const heads = ["Data", "System", "Metric", "Expected", "Within", "Found", "Off by", "Met", "Source"];
  const rows = findings.expectations.map((e) => element("tr", { class: e.met ? null : "failed" },
    element("td", { class: "text" }, e.data), element("td", { class: "text" }, e.system), element("td", { class: "text" }, e.metric),
    element("td", null, formatValue(e.value)), element("td", null, `±\u2009${formatShort(e.within)}`), element("td", null, formatValue(e.found)),
    element("td", null, e.found === null ? "–" : formatDifference(e.found - e.value)),
    element("td", { class: e.met ? "yes" : "no" }, e.met ? "✓ met" : "✗ not met"), element("td", { class: "text source" }, e.source)));
  const met = findings.expectations.filter((e) => e.met).length;
  body.replaceChildren(
    element("p", { class: "verdict" }, `${met} of ${findings.expectations.length} are within their limits.`),
    scrollingTable({ class: "expectations" }, "Expectations", element("thead", null, element("tr", null, heads.map((text, i) =>
      element("th", { scope: "col", class: i < 3 || i === 8 ? "text" : null }, text)))), element("tbody", null, rows)));
}

// ---- Reproducing ----

function drawMethod(body) {
  const conventions = Object.entries(findings.conventions).map(([name, value]) => fact(name, formatShort(value)));
  const comparison = views.map((view) => view.standing.all_pairs).find(Boolean);
  const peak = times.peak_bytes ? `, at most ${Math.ceil(times.peak_bytes / 2 ** 20)} MiB of memory` : "";
  const sentences = [
    `The same experiment file, data, seed (${seed}) and version (Rankwise ${findings.version}) give the same figures, on any number of threads. Only times differ.`,
    findings.data.some((data) => data.systems.some((system) => system.trials.length > 0))
      && `Parameters were chosen by ${findings.selection} on validation queries only. All figures here are on test queries.`,
    comparison && `Differences were tested with a two-sided paired randomisation test (${counted(comparison.permutations, "random sign assignment")} where there are too many to enumerate) with Holm’s correction for all pairs of systems, in every table here. `
      + `Confidence intervals are bootstrap percentiles over ${counted(comparison.resamples, "resample")} of the queries.`,
    findings.data.some((data) => data.query_weights) && "Query weights count everywhere: means are weighted by them, and tests and confidence intervals are of the weighted means. Wins and losses count queries.",
    times.threads > 0 && `It ran on ${counted(times.threads, "thread")}, ${times.one_at_a_time ? "one job at a time" : "with jobs in parallel"}${peak}.`,
  ].filter(Boolean);
  body.replaceChildren(element("div", { class: "prose" }, sentences.map((text) => element("p", null, text))),
    element("h3", null, "Conventions of the metrics"), element("dl", { class: "facts conventions" }, conventions));
}
