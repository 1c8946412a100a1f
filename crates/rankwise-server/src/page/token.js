// Asking for a token.

import { forgetToken, setToken, token } from "./api.js";
import { button, element, field } from "./dom.js";

/** A field for a token. It is kept for this tab only. */
export const tokenField = (label) =>
  field(label, { type: "password", name: "token", required: true, autocomplete: "off", spellcheck: "false", value: token() ?? "" });

/** Keeps the token of a form. Tokens are copied, often with blanks around them. */
export const keepToken = (form) => setToken(form.elements.token.value.trim());

/** A form that asks for a token and then calls `done`. */
export function tokenForm(label, done) {
  const form = element("form", { class: "line" }, tokenField(label), element("button", { type: "submit", class: "main" }, "Use this token"));
  form.onsubmit = (event) => {
    event.preventDefault();
    keepToken(form);
    done();
  };
  return form;
}

/** A button that forgets the token and then calls `done`. */
export const forgetButton = (done) => button("Forget the token", () => {
  forgetToken();
  done();
}, { class: "minor" });
