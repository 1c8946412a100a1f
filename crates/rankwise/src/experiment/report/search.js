// The search for parameters: the validation metric against each parameter that was varied.

/** Parameters whose values differ between trials. */
function variedParameters(trials) {
  const names = [...new Set(trials.flatMap(({ parameters }) => Object.keys(parameters)))];
  return names.filter((name) => new Set(trials.map(({ parameters }) => JSON.stringify(parameters[name]))).size > 1);
}

/** A numeric axis, logarithmic where values span more than a hundredfold, or one place per distinct value. */
function parameterAxis(name, trials) {
  const values = [...new Set(trials.map(({ parameters }) => parameters[name]).filter((value) => value !== undefined))];
  if (values.every((value) => typeof value === "number")) {
    const log = least(values) > 0 && most(values) > 100 * least(values);
    const sorted = values.sort((a, b) => a - b);
    return { place: (value) => value, axis: { range: airy(values, { log, air: 0.06 }), log, title: log ? `${name} (log scale)` : name,
      ticks: sorted.length <= 6 && !log ? sorted : undefined } };
  }
  const texts = [...new Set(values.map(formatShort))];
  const format = (place) => shorten(texts[place], Math.max(4, Math.floor(40 / texts.length)));
  return { place: (value) => texts.indexOf(formatShort(value)),
    axis: { range: [-0.5, texts.length - 0.5], ticks: texts.map((_, i) => i), title: name, format } };
}

function sensitivityChart(name, trials, chosen, width) {
  const tried = trials.filter(({ parameters, valid }) => parameters[name] !== undefined && isNumber(valid));
  if (tried.length === 0) return null;
  const { place, axis } = parameterAxis(name, tried);
  const c = chart({ width, height: 230, top: 26, label: `Validation ${findings.selection} against ${name}`, x: axis,
    y: { range: airy(tried.map(({ valid }) => valid), { air: 0.1 }), title: `validation ${findings.selection}` } });
  for (const { fold, parameters, fraction, valid } of tried) {
    const sampled = fraction < 1 ? `, on ${Math.round(fraction * 100)} % of the training queries` : "";
    c.area.append(marker("circle", c.x(place(parameters[name])), c.y(valid), fraction < 1 ? 2.2 : 3.2, { class: fraction < 1 ? "tried sampled" : "tried",
      "data-tip": `fold ${fold + 1}: ${name} = ${formatShort(parameters[name])}, ${formatValue(valid)}${sampled}` }));
  }
  const whole = groupBy(tried.filter(({ fraction }) => fraction === 1), ({ parameters }) => place(parameters[name]));
  const means = [...whole].map(([x, group]) => [x, mean(group.map(({ valid }) => valid))]).sort(([a], [b]) => a - b);
  c.area.append(shape("path", { class: "means", d: linePath(means.map(([x, value]) => [c.x(x), c.y(value)])) }));
  const picks = groupBy(chosen.filter(({ parameters }) => parameters[name] !== undefined), ({ parameters }) => place(parameters[name]));
  for (const [x, group] of picks) {
    if (!(x >= axis.range[0] && x <= axis.range[1])) continue;
    c.area.append(marker("triangle", c.x(x), c.bottom - 5, 4.5, { class: "chosen",
      "data-tip": `${formatShort(group[0].parameters[name])} chosen ${group.length} of ${chosen.length} times` }));
  }
  return smallFigure(element("b", null, name), c.node, width);
}

function chosenTable(chosen) {
  const rows = chosen.map(({ fold, repeat, valid, parameters }) => element("tr", null,
    element("td", null, fold + 1), findings.repeats > 1 && element("td", null, repeat + 1), element("td", null, formatValue(valid)),
    element("td", { class: "settings" }, Object.entries(parameters).map(([name, value]) => element("code", null, `${name} = ${formatShort(value)}`)))));
  const heads = ["Fold", findings.repeats > 1 && "Repeat", "Validation", "Settings"].filter(Boolean);
  return element("details", null, element("summary", null, "Chosen settings per fold"),
    scrollingTable(null, "Chosen settings", element("thead", null, element("tr", null, heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", null, rows)));
}

/** Systems that were trained here, with given or chosen settings. */
function learnedSystems(view) {
  return systems.map((_, system) => system).filter((system) => {
    const { trials, chosen } = view.data.systems[system];
    return trials.length + chosen.length > 0;
  });
}

function drawSearch(body, view, width) {
  const learned = learnedSystems(view);
  const searched = learned.filter((system) => view.data.systems[system].trials.length > 0);
  const none = searched.length === 0 ? sentence("No parameters were searched: every system used its given settings.") : null;
  const named = systems.findIndex(({ name }) => name === choices.get("search"));
  const first = view.standing.order.find((system) => searched.includes(system)) ?? learned[0];
  const place = element("div");
  const draw = (system) => {
    const { trials, chosen } = view.data.systems[system];
    const figures = variedParameters(trials).map((name) => sensitivityChart(name, trials, chosen, smallWidth(width))).filter(Boolean);
    const quiet = none || figures.length > 0 ? null : sentence("Nothing was varied for this system.");
    place.replaceChildren(...[quiet, figures.length > 0 && element("div", { class: "multiples" }, figures), chosen.length > 0 && chosenTable(chosen)].filter(Boolean));
  };
  const start = learned.includes(named) ? named : first;
  draw(start);
  const pick = (value) => { choose("search", value); draw(systems.findIndex(({ name }) => name === value)); };
  body.replaceChildren(...[none, element("div", { class: "controls" }, systemPicker("System", learned, start, pick)), place].filter(Boolean));
}
