// The address of what is shown: `#view?parameters`, so that it can be shared and the back button works.

/** The address of a view; parameters that are null or empty are left out. */
export function address(view, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = String(new URLSearchParams(given));
  return text === "" ? `#${view}` : `#${view}?${text}`;
}

/** The view in the address, or the first one, and the parameters. */
export function readAddress(views) {
  const [name, ...rest] = location.hash.slice(1).split("?");
  return { view: views.includes(name) ? name : views[0], parameters: new URLSearchParams(rest.join("?")) };
}

/** Goes to another address. Returns whether it is another one. */
export function go(view, parameters) {
  const next = address(view, parameters);
  if (next === location.hash) return false;
  location.hash = next;
  return true;
}
