// The models and their versions, and changes of them.

import { request, token } from "./api.js";
import { alertBox, button, counted, element, field, sentence, table, tag } from "./dom.js";
import { forgetButton, tokenForm } from "./token.js";

export const title = "Models";

/** Models may be large, and are checked before they serve. */
const PUT_PATIENCE_MS = 300_000;

/** How long a button that cannot be taken back waits for its second press. */
const SURE_MS = 5000;

export function show(place) {
  const view = { list: element("div"), status: element("div", { role: "status", "aria-live": "polite" }), change: element("section", { class: "change" }) };
  place.append(view.list, view.status, view.change);
  drawChange(view);
  drawList(view);
  return {};
}

async function drawList(view) {
  try {
    const { models } = await request("models");
    const heads = ["Model", "Version", "Earlier versions", "Learner", "Features", "Checksum", ...(token() ? ["Change"] : [])];
    view.list.replaceChildren(table("Models", heads, models.map((model) => row(view, model)), { class: "board" }));
  } catch (failure) {
    view.list.replaceChildren(alertBox(failure.message, failure.passes && (() => drawList(view))));
  }
}

function row(view, model) {
  const { name, version, earlier, learner, features, checksum } = model;
  return [[name, model.default && tag("default", "good")], version, earlier.join(", ") || "none",
    learner ?? "BM25, without a model", features ?? "–", checksum ? element("code", null, checksum.slice(0, 12)) : "–",
    ...(token() ? [element("div", { class: "line actions" }, actions(view, model))] : [])];
}

function actions(view, { name, earlier, learner, default: isDefault }) {
  const path = `models/${encodeURIComponent(name)}`;
  const promote = () => change(view, `${path}/promote`, { method: "POST" }, () => `${name} is the default now.`);
  const rollBack = () => change(view, `${path}/rollback`, { method: "POST" }, ({ version }) => `${name} serves version ${version} again.`);
  const remove = () => change(view, path, { method: "DELETE" }, () => `${name} is removed.`);
  return [!isDefault && button("Make default", promote),
    earlier.length > 0 && sureButton(`Roll back to ${earlier.at(-1)}`, "Press again to roll back", rollBack),
    !isDefault && learner && sureButton("Remove", "Press again to remove", remove)];
}

/** A button that works when it is pressed twice. */
function sureButton(text, again, work) {
  const press = () => {
    if (node.dataset.sure) return work();
    node.dataset.sure = "yes";
    node.textContent = again;
    setTimeout(() => {
      delete node.dataset.sure;
      node.textContent = text;
    }, SURE_MS);
  };
  const node = button(text, press);
  return node;
}

/** Sends a change, says how it went, and shows the models again. */
async function change(view, path, options, text) {
  view.status.replaceChildren(sentence("Working …"));
  try {
    const answer = await request(path, { ...options, authorized: true });
    view.status.replaceChildren(element("p", { class: "done" }, text(answer)));
    await drawList(view);
  } catch (failure) {
    view.status.replaceChildren(alertBox(failure.message));
  }
}

// ---- Uploading a model, and the token that it takes ----

function drawChange(view) {
  const redraw = () => {
    view.status.replaceChildren();
    drawChange(view);
    drawList(view);
  };
  const heading = element("h2", null, "Change models");
  if (!token()) {
    view.change.replaceChildren(heading, sentence("This needs the token of an administrator. The token is kept until this tab is closed."),
      tokenForm("Token", redraw));
    return;
  }
  const form = element("form", { class: "line" },
    field("Name", { name: "name", required: true, maxlength: 64, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]*", autocomplete: "off" }),
    field("Model file", { name: "file", type: "file", required: true, accept: ".json,.txt,application/json" }),
    element("button", { type: "submit", class: "main" }, "Upload"));
  form.onsubmit = (event) => {
    event.preventDefault();
    put(view, form.elements.name.value.trim(), form.elements.file.files[0]);
  };
  view.change.replaceChildren(heading,
    sentence("The server checks the file while the earlier version keeps serving. A new name adds a model; an existing name gets a new version."),
    form, element("p", null, forgetButton(redraw)));
}

const put = (view, name, file) => change(view, `models/${encodeURIComponent(name)}`,
  { method: "PUT", raw: file, patience: PUT_PATIENCE_MS },
  ({ version, features }) => `${name} serves version ${version}, with ${counted(features, "feature")}.`);
