// Elements. Text is inserted as text only, never as HTML.

const isThere = (child) => child !== null && child !== undefined && child !== false;

/**
 * Returns a new element.
 * @param {string} kind a tag with its id and its classes: `button#copy`, `span.faint`
 * @param {...any} parts attributes, if the first is a plain object: `on…` are listeners, false values are omitted; then
 *   children: elements and texts; false values are omitted
 * @returns {HTMLElement}
 */
export function el(kind, ...parts) {
  const [name, ...classes] = kind.split(".");
  const [tag, id] = name.split("#");
  const element = document.createElement(tag);
  if (id) element.id = id;
  if (classes.length) element.className = classes.join(" ");
  const props = parts[0]?.constructor === Object ? parts.shift() : {};
  for (const [name, value] of Object.entries(props)) {
    if (!isThere(value)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...parts.filter(isThere));
  return element;
}

/** Returns an input field without spell checking. @param {{enter?: () => void}} props `enter` handles the Enter key */
export const field = (kind, { enter, ...props }) => el(kind, { type: "text", autocomplete: "off", spellcheck: "false", onkeydown: enter && (({ key }) => key === "Enter" && enter()), ...props });

/** Returns a button of a list item. @param {string} what its label @param {string} of the item's name */
export const buttonOf = (id, what, of, onclick, props) => el(`button#${id}`, { "aria-label": `${what} ${of}`, onclick, ...props }, what);

/** Returns the options of a list of choices. @param {(string|[string|number, string])[]} values texts, or values with their texts @param {any} [chosen] */
export const options = (values, chosen = "") =>
  values.map((one) => {
    const [value, text = value] = [one].flat();
    return el("option", { value, selected: value === chosen }, text);
  });

/** Returns a decorative sign, hidden from screen readers. */
export const sign = (kind, ...text) => el(kind, { "aria-hidden": "true" }, ...text);

/** Returns a cell of a grid. @param {string} classes as in `.number` */
export function cell(classes, ...parts) {
  const element = el(`span${classes}`, ...parts);
  element.setAttribute("role", "gridcell");
  return element;
}

/** Returns a section with its heading. @param {string} title */
export const section = (title, ...parts) => el("section", el("h2", title), ...parts);

/** Returns an error message with its hint. @param {string} [tag] */
export const failure = ({ message, hint }, tag = "p") => el(`${tag}.error`, message, hint && el("span.hint", ` ${hint}`));

/** The data that elements were filled with. @type {WeakMap<Element, string>} */
const filled = new WeakMap();

/** Replaces the children of an element. A new child with the id of the focused one gets the focus. @param {Element} element @param {...(Node|string)} children */
export function fill(element, ...children) {
  const { id } = element.contains(document.activeElement) ? document.activeElement : {};
  filled.delete(element);
  element.replaceChildren(...children.filter(isThere));
  if (id) document.getElementById(id)?.focus();
}

/** Replaces the children of an element if its data has changed, so that a button is not replaced while it is pressed. */
export function refill(element, data, make) {
  const key = JSON.stringify(data);
  if (filled.get(element) === key) return;
  fill(element, ...make());
  filled.set(element, key);
}

/** Replaces the rows of a list. @param {any[]} items @param {string} none the text for an empty list */
export const refillList = (list, items, row, none) => refill(list, items, () => (items.length ? items.map(row) : [el("li.empty", none)]));

/** Returns the element with an id, which has to exist. @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/** Prevents the default action of an event, and its propagation. @param {Event} event */
export function keep(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** Sets the active element of a list. @param {string} [id] */
export function pointTo(list, id) {
  if (id) list.setAttribute("aria-activedescendant", id);
  else list.removeAttribute("aria-activedescendant");
}

/** Returns a table with a head. @param {string[]} heads @param {(Node|string)[][]} rows @param {string} label @param {string} [kind] `figures`: all but the first column are numbers */
export function table(heads, rows, label, kind) {
  return el(
    "table",
    { "aria-label": label, class: kind },
    el("thead", el("tr", ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", ...rows.map((row) => el("tr", ...row.map((cell) => el("td", cell))))),
  );
}

/** Opens a dialog, which is removed when it is closed. @param {string} kind @param {string} label @param {...any} parts @returns {HTMLDialogElement} */
export function openDialog(kind, label, ...parts) {
  const dialog = /** @type {HTMLDialogElement} */ (el(kind, { "aria-label": label }, ...parts));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Asks for confirmation, or for a text. Returns whether it was confirmed, or the text.
 * @param {{title: string, text: string, confirm: string, name?: string, value?: string}} question `name` is that of the text
 * @returns {Promise<boolean|string>}
 */
export function ask({ title, text, confirm, name, value = "" }) {
  return new Promise((resolve) => {
    const input = field("input#answer", { value });
    const buttons = el("p.buttons", el("button", { value: "no", type: "button", onclick: () => dialog.close() }, "Cancel"), el("button", { class: name ? "" : "danger", value: "yes" }, confirm));
    const form = el("form", { method: "dialog" }, el("h2", title), el("p", text), name && el("p", el("label", `${name} `, input)), buttons);
    const dialog = openDialog("dialog", title, form);
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" && (name ? input.value.trim() : true)));
    if (name) input.select();
  });
}
