// Elements. Text gets into the page as text alone, never as HTML.

/**
 * Returns a new element.
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; `on…` are listeners, `class` and `text` what they say, false is left out
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** What elements are about. @type {WeakMap<Element, string>} */
const filled = new WeakMap();

/** Replaces what is in an element. An element with the id of the one that had the focus gets it. @param {Element} element @param {...(Node|string)} children */
export function fill(element, ...children) {
  const { id } = element.contains(document.activeElement) ? document.activeElement : {};
  filled.delete(element);
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
  if (id) document.getElementById(id)?.focus();
}

/** Replaces what is in an element if it is about other data than before: a button that is being pressed stays. */
export function refill(element, data, make) {
  const key = JSON.stringify(data);
  if (filled.get(element) === key) return;
  fill(element, ...make());
  filled.set(element, key);
}

/** Returns the element with an id, which has to exist. @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/** Returns a table with a head. @param {string[]} heads @param {(Node|string)[][]} rows @param {string} label @param {string} [kind] `figures`: all but the first column are numbers */
export function table(heads, rows, label, kind) {
  return el(
    "table",
    { "aria-label": label, class: kind },
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))),
  );
}

/**
 * Asks before something is lost, or for a text. Returns whether to go on, or the text.
 * @param {{title: string, text: string, confirm: string, field?: string, value?: string}} question `field` names the text
 * @returns {Promise<boolean|string>}
 */
export function ask({ title, text, confirm, field, value = "" }) {
  return new Promise((resolve) => {
    const input = el("input", { id: "answer", type: "text", value, autocomplete: "off", spellcheck: "false" });
    const answer = () => (field ? input.value.trim() : true);
    const form = el(
      "form",
      { method: "dialog" },
      el("h2", { text: title }),
      el("p", { text }),
      field && el("p", {}, el("label", {}, `${field} `, input)),
      el("p", { class: "buttons" }, el("button", { value: "no", type: "button", onclick: () => dialog.close(), text: "Cancel" }), el("button", { class: field ? "" : "danger", value: "yes", text: confirm })),
    );
    const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-label": title }, form));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" && answer());
    });
    document.body.append(dialog);
    dialog.showModal();
    if (field) input.select();
  });
}
