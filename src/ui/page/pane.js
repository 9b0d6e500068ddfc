// A side pane: a title, a close button, tabs, and the content of the chosen tab.

import { el, failure, fill, keep } from "./dom.js";

/** The base class of panes: each `load`s the content of the chosen tab. */
export class Pane {
  /** @param {{name: string, list: string, tabs: string[], close: () => void}} options `list` labels the tabs */
  constructor(page, { name, list, tabs, close }) {
    this.page = page;
    this.names = tabs;
    this.tab = tabs[0];
    this.title = el("h2");
    this.tabs = tabs.map((tab) => el(`button#tab-${tab}`, { role: "tab", "aria-controls": `${name}-body`, onclick: () => this.choose(tab) }, tab));
    this.body = el(`div#${name}-body.body`, { role: "tabpanel", tabindex: "-1" });
    this.element = el(
      `aside#${name}-pane.pane`,
      { "aria-label": name, hidden: true },
      el("header", this.title, el(`button#close-${name}`, { "aria-label": `close the ${name}`, onclick: close }, "close")),
      el("div", { role: "tablist", "aria-label": list, onkeydown: (event) => this.onTabKey(event) }, ...this.tabs),
      this.body,
    );
  }

  choose(tab) {
    this.tab = tab;
    this.load();
  }

  onTabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    keep(event);
    const at = (this.names.indexOf(this.tab) + step + this.names.length) % this.names.length;
    this.choose(this.names[at]);
    this.tabs[at].focus();
  }

  /** Shows a title, and which tab is chosen. @param {string} title */
  mark(title) {
    this.title.textContent = title;
    for (const [at, button] of this.tabs.entries()) {
      const isChosen = this.names[at] === this.tab;
      button.setAttribute("aria-selected", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
  }

  /** Shows an error in place of the content. */
  fail(error) {
    fill(this.body, failure(error), el("button", { onclick: () => this.load() }, "Try again"));
  }
}
