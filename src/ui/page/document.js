// The view of the document of each tier, as it would be sent; and what a provider's prompt cache keeps of it.

import { el, fill } from "./dom.js";
import { count, plural, visible } from "./format.js";
import { Rows } from "./rows.js";

const TIERS = ["1 orchestrator", "2 lead", "3 worker", "4 QA"];
const LINE_PX = 20;
/** Lines are asked for in pages. */
const PAGE_LINES = 500;
const KEPT_PAGES = 40;

export const document_ = {
  id: "document",
  title: "Document",
  mount(pane, page) {
    const view = new DocumentView(page);
    pane.append(view.element);
    return view;
  },
};

class DocumentView {
  constructor(page) {
    this.page = page;
    this.pages = new Map();
    this.opened = null;
    this.changed = new Set();
    this.tabs = el("div", { role: "tablist", "aria-label": "Tiers" });
    this.find = el("input", { id: "find", type: "search", placeholder: "find", "aria-label": "Find in the document", autocomplete: "off" });
    this.find.addEventListener("change", () => this.search());
    this.kept = el("span", { id: "kept", class: "faint" });
    const bar = el(
      "div",
      { class: "bar" },
      this.tabs,
      this.find,
      el("button", { id: "copy", text: "copy", onclick: () => this.copy() }),
      el("button", { id: "download", text: "download", onclick: () => this.download() }),
      this.kept,
    );
    this.blocks = el("ol", { class: "blocks", "aria-label": "Blocks" });
    this.rows = new Rows({ label: "Document", height: LINE_PX, render: (index) => this.line(index) });
    this.element = el("div", { class: "paper" }, bar, el("div", { class: "split" }, el("nav", { "aria-label": "Blocks of the document" }, this.blocks), this.rows.element));
  }

  show() {
    this.showTabs();
    this.refresh();
  }

  async refresh() {
    const before = this.opened;
    if (!before) this.kept.textContent = "Composing the document …";
    try {
      const choice = this.page.choice();
      const opened = await this.page.api.post("/v1/document/open", { choice });
      if (opened.id === before?.id) return;
      // Documents of two choices are sent to two agents: no cache keeps one of them for the other.
      const isSameChoice = JSON.stringify(choice) === this.choice;
      this.choice = JSON.stringify(choice);
      this.opened = opened;
      this.changed.clear();
      this.firstDifference = 0;
      this.pages.clear();
      this.showBlocks();
      this.rows.show(opened.lines);
      this.showTabs();
      await this.compare(isSameChoice ? before : null);
    } catch (error) {
      fill(this.blocks, el("li", { class: "error", text: `${error.message}. ${error.hint ?? ""}` }));
    }
  }

  showTabs() {
    const tabs = TIERS.map((name, at) => {
      const isShown = at + 1 === this.page.chosen.tier;
      const text = isShown && this.opened ? `${name} ${count(this.opened.tokens)}` : name;
      return el("button", { id: `tier-${at + 1}`, role: "tab", "aria-selected": String(isShown), text, onclick: () => this.page.choose({ tier: at + 1 }) });
    });
    fill(this.tabs, ...tabs);
  }

  showBlocks() {
    const { blocks, sections } = this.opened;
    const entries = [
      ...sections.map(({ name, line }) => ({ name, line, tokens: null })),
      ...blocks.file.map((name, at) => ({ name, line: blocks.line[at], tokens: blocks.tokens[at] })),
    ].sort((one, other) => one.line - other.line);
    const shown = entries.slice(0, 2000);
    fill(
      this.blocks,
      ...shown.map(({ name, line, tokens }) =>
        el(
          "li",
          { class: `${tokens === null ? "section" : ""}${this.changed.has(name) ? " changed" : ""}` },
          el("button", { onclick: () => this.goTo(line), title: visible(name) }, el("span", { text: visible(name) }), tokens === null ? "" : el("span", { class: "number", text: count(tokens) })),
        ),
      ),
      entries.length > shown.length && el("li", { class: "faint", text: `and ${count(entries.length - shown.length)} more` }),
    );
  }

  /** Shows what a prompt cache keeps of the document that was shown before, and marks what has changed. */
  async compare(before) {
    if (!before) {
      this.kept.textContent = `${plural(this.opened.blocks.file.length, "file")}, ${count(this.opened.tokens)} tokens`;
      return;
    }
    try {
      const same = await this.page.api.post("/v1/document/compare", { from: before.id, to: this.opened.id });
      this.changed = new Set(same.blocks.map(({ file }) => file));
      this.firstDifference = same.first?.document_line ?? 0;
      const share = same.of_tokens ? Math.round((100 * same.kept_tokens) / same.of_tokens) : 0;
      const first = same.first ? `, first difference: ${same.first.file ?? same.first.section} ${same.first.reason}` : "";
      this.kept.textContent = `a prompt cache keeps ${count(same.kept_tokens)} of ${count(same.of_tokens)} tokens, ${share} %${first}`;
      this.showBlocks();
      this.rows.draw();
    } catch (error) {
      this.kept.textContent = error.message;
    }
  }

  line(index) {
    const page = Math.floor(index / PAGE_LINES);
    const lines = this.pages.get(page);
    if (!lines) this.load(page);
    const text = Array.isArray(lines) ? (lines[index - page * PAGE_LINES] ?? "") : "";
    const heading = /^#{1,6} /.test(text) ? " heading" : "";
    const cut = index + 1 === this.firstDifference ? " cut" : "";
    return el("div", { role: "row", class: `line${heading}${cut}` }, el("span", { role: "gridcell", text: visible(text) || " " }));
  }

  async load(page) {
    const { id, lines } = this.opened;
    this.pages.set(page, "loading");
    const line = page * PAGE_LINES + 1;
    try {
      const { text } = await this.page.api.post("/v1/document/read", { id, line, lines: Math.max(1, Math.min(PAGE_LINES, lines - line + 1)) });
      if (this.opened.id !== id) return;
      this.pages.set(page, text.split("\n"));
      if (KEPT_PAGES < this.pages.size) this.pages.delete(this.pages.keys().next().value);
      this.rows.draw();
    } catch (error) {
      this.pages.delete(page);
      if (error.code === "document_gone") {
        this.opened = null;
        await this.refresh();
      }
    }
  }

  goTo(line) {
    this.rows.scrollTo(line - 1);
    this.rows.move(line - 1);
  }

  /** Returns the whole text. */
  async text() {
    const parts = [];
    for (let line = 1; line <= this.opened.lines; line += 2000) {
      const lines = Math.min(2000, this.opened.lines - line + 1);
      parts.push((await this.page.api.post("/v1/document/read", { id: this.opened.id, line, lines })).text);
    }
    return parts.join("");
  }

  async search() {
    const wanted = this.find.value;
    if (!wanted || !this.opened) return;
    const lines = (await this.text()).split("\n");
    const from = this.rows.current + 1;
    const at = [...lines.keys()].map((step) => (from + step) % lines.length).find((line) => lines[line].includes(wanted));
    if (at === undefined) this.page.say(`“${wanted}” is not in the document`);
    else this.goTo(at + 1);
  }

  async copy() {
    await navigator.clipboard.writeText(await this.text());
    this.page.say("document copied");
  }

  async download() {
    const blob = URL.createObjectURL(new Blob([await this.text()], { type: "text/markdown" }));
    const link = el("a", { href: blob, download: `tier_${this.page.chosen.tier}.md` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(blob), 1000);
  }

  act(action) {
    const { rows } = this;
    if (!this.opened) return false;
    const moves = { down: 1, up: -1, "page-down": rows.inSight - 2, "page-up": 2 - rows.inSight };
    if (action in moves) rows.move(Math.max(0, rows.current) + moves[action]);
    else if (action === "first") rows.move(0);
    else if (action === "last") rows.move(rows.count - 1);
    else if (action === "filter") this.find.focus();
    else return false;
    return true;
  }

  unmount() {}
}
