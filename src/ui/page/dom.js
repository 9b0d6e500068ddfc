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

/** Replaces what is in an element. @param {Element} element @param {...(Node|string)} children */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

/** Returns the element with an id, which has to exist. @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/** Returns a table with a head. @param {string[]} heads @param {(Node|string)[][]} rows @param {string} label */
export function table(heads, rows, label) {
  return el(
    "table",
    { "aria-label": label },
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))),
  );
}

/**
 * Asks before something is lost. Returns whether to go on.
 * @param {{title: string, text: string, confirm: string}} question
 * @returns {Promise<boolean>}
 */
export function ask({ title, text, confirm }) {
  return new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-label": title }));
    const close = (answer) => () => {
      dialog.close();
      dialog.remove();
      resolve(answer);
    };
    dialog.append(
      el("h2", { text: title }),
      el("p", { text }),
      el("p", { class: "buttons" }, el("button", { onclick: close(false), text: "Cancel" }), el("button", { class: "danger", onclick: close(true), text: confirm })),
    );
    dialog.addEventListener("cancel", close(false));
    document.body.append(dialog);
    dialog.showModal();
  });
}
