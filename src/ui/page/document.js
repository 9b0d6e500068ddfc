// The document view: the document of each tier as it would be sent, and what a provider's prompt cache keeps of it.

import { TIERS } from "./bar.js";
import { cell, el, failure, field, fill, options } from "./dom.js";
import { FORMATS, download } from "./download.js";
import { count, plural, visible } from "./format.js";
import { Rows } from "./rows.js";
import { LINE_PX } from "./slices.js";

/** Lines are fetched in pages. */
const PAGE_LINES = 500;
const KEPT_PAGES = 40;
/** The delay after the last change before the tokens of the other tiers are requested. */
const QUIET_MS = 1000;

export class DocumentView {
  static id = "document";
  static title = "Document";
  /** Kept while another view is shown, with its scroll position, because the document is large. */
  static isKept = true;

  constructor(page) {
    this.page = page;
    this.pages = new Map();
    this.opened = null;
    this.changed = new Set();
    this.tabs = el("div", { role: "tablist", "aria-label": "Tiers" });
    this.find = field("input#find", { type: "search", placeholder: "find", "aria-label": "Find in the document", onchange: () => this.search() });
    this.kept = el("span#kept.faint");
    /** The delivery name since whose last document only changes are shown; empty for the whole document. */
    this.since = el("select#since", { title: "Show only what has changed since the last document of that name", onchange: () => this.refresh() }, ...options([["", "off"]]));
    this.format = el("select#format", { "aria-label": "Format of the download" }, ...options(FORMATS));
    /** The tokens of each tier's document, if known. */
    this.sizes = [];
    const bar = el(
      "div.bar",
      this.tabs,
      el("label", "since last ", this.since),
      this.find,
      el("button#copy", { title: "c", onclick: () => this.copy() }, "copy"),
      this.format,
      el("button#download", { onclick: () => download(this) }, "download"),
      this.kept,
    );
    this.blocks = new Rows({ label: "Blocks", role: "list", class: "rows blocks", render: (index) => this.block(index) });
    this.rows = new Rows({ label: "Document", height: LINE_PX, render: (index) => this.line(index) });
    this.lists = [this.rows, this.blocks];
    this.element = el("div.paper", bar, el("div.split", el("nav", { "aria-label": "Blocks of the document" }, this.blocks.element), this.rows.element));
  }

  show(route) {
    this.sought = route;
    if (this.asked !== JSON.stringify(this.question())) {
      this.opened = null;
      for (const list of this.lists) list.show(0);
    }
    this.tops?.forEach((top, at) => (this.lists[at].element.scrollTop = top));
    this.tops = null;
    this.showTabs();
    this.refresh();
    this.showNames();
  }

  /** Returns the request: for the whole document, or for the changes since a delivery. */
  question(tier) {
    const choice = tier ? { ...this.page.choice(), tier } : this.page.choice();
    return this.since.value ? { choice, name: this.since.value, since_last: true } : { choice };
  }

  async refresh() {
    const before = this.opened;
    if (!before) this.kept.textContent = "Composing the document …";
    try {
      const question = this.question();
      const opened = await this.page.api.post("/v1/document/open", question);
      this.measureLater();
      if (opened.id === this.opened?.id) return this.seek();
      // Documents of different choices go to different agents, so they share no cache.
      const isSameChoice = JSON.stringify(question) === this.asked;
      const place = isSameChoice && this.place();
      this.asked = JSON.stringify(question);
      this.opened = opened;
      this.changed.clear();
      this.firstDifference = 0;
      this.pages.clear();
      this.rows.show(opened.lines);
      this.showBlocks();
      if (place) this.goBack(place);
      this.seek();
      this.showTabs();
      await this.compare(isSameChoice && !this.since.value ? before : null);
    } catch (error) {
      fill(this.kept, failure(error, "span"));
    }
  }

  /** Offers the names of past deliveries. */
  async showNames() {
    const { names } = await this.page.api.post("/v1/given", {}).catch(() => ({ names: [] }));
    // Curation that was only part of a request is not known here.
    const known = names.filter(({ curation }) => !curation).map(({ name }) => name);
    fill(this.since, ...options([["", "off"], ...known.map((name) => [name, visible(name)])], this.since.value));
  }

  /** Requests the tokens of the other tiers' documents, once no file has changed for a while. */
  measureLater() {
    clearTimeout(this.measuring);
    this.measuring = setTimeout(() => this.measure(), QUIET_MS);
  }

  async measure() {
    const of = JSON.stringify([this.page.table?.clock, this.question()]);
    // Composing these documents is slow, and they only change with the table.
    if (this.sizesOf === of) return;
    this.sizesOf = of;
    for (const tier of [1, 2, 3, 4].filter((other) => other !== this.page.tier)) {
      const { receipt } = await this.page.api.post("/v1/aggregate", { ...this.question(tier), dry_run: true, receipt: "none" }).catch(() => ({}));
      if (receipt) this.sizes[tier] = receipt.totals.tokens;
      this.showTabs();
    }
  }

  /** Scrolls to the block of the file in the URL, once. */
  seek() {
    const at = this.opened.blocks.file.indexOf(this.sought);
    this.sought = "";
    if (0 <= at) this.goTo(this.opened.blocks.line[at]);
  }

  /** Returns the number of the last block that begins at a line or before it, or -1. */
  blockAt(number) {
    return this.opened.blocks.line.findLastIndex((line) => line <= number);
  }

  /** Returns the first visible block, and how far its heading is above the view. */
  place() {
    const first = this.rows.first + 1;
    const at = this.blockAt(first);
    const { file, line } = this.opened.blocks;
    return at < 0 ? null : { file: file[at], above: first - line[at] };
  }

  /** Scrolls to a place in another version of the document. */
  goBack({ file, above }) {
    const { blocks } = this.opened;
    const at = blocks.file.indexOf(file);
    if (0 <= at) this.rows.scrollTo(blocks.line[at] + Math.min(above, blocks.lines[at]) - 1);
    this.rows.draw();
  }

  showTabs() {
    const tabs = TIERS.map((name, at) => {
      const isShown = at + 1 === this.page.tier;
      const tokens = isShown ? this.opened?.tokens : this.sizes[at + 1];
      const text = tokens === undefined ? name : `${name} ${count(tokens)}`;
      return el(`button#tier-${at + 1}`, { role: "tab", "aria-selected": String(isShown), onclick: () => this.page.choose({ tier: at + 1 }) }, text);
    });
    fill(this.tabs, ...tabs);
  }

  showBlocks() {
    const { blocks, sections } = this.opened;
    /** The rows of the sections, each after the blocks that precede it. */
    this.sectionRows = sections.map(({ line }, at) => at + this.blockAt(line - 1) + 1);
    this.blocks.show(sections.length + blocks.file.length);
  }

  /** Returns the subject of a row: a section, or a block, which has tokens. */
  entry(index) {
    const { blocks, sections } = this.opened;
    const at = this.sectionRows.findLastIndex((row) => row <= index);
    if (this.sectionRows[at] === index) return { ...sections[at], tokens: null };
    const block = index - at - 1;
    return { name: blocks.file[block], line: blocks.line[block], tokens: blocks.tokens[block] };
  }

  /** Returns the row of a block or a section. */
  block(index) {
    const { name, line, tokens } = this.entry(index);
    const kind = tokens === null ? ".section" : "";
    const changed = this.changed.has(name) ? ".changed" : "";
    return el(`div${kind}${changed}`, { role: "listitem" }, el("button", { onclick: () => this.goTo(line), title: visible(name) }, el("span", visible(name)), tokens !== null && el("span.number", count(tokens))));
  }

  /** Shows what a prompt cache keeps of the previously shown document, and marks the changes. */
  async compare(before) {
    if (!before) {
      const what = this.since.value ? `what has changed since ${visible(this.since.value)} was given: ` : "";
      this.kept.textContent = `${what}${plural(this.opened.blocks.file.length, "file")}, ${count(this.opened.tokens)} tokens`;
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
    const changed = this.isChanged(index + 1) ? " changed" : "";
    return el(`div.line${heading}${cut}${changed}`, { role: "row" }, cell("", visible(text) || " "));
  }

  /** Returns whether a line is in a block that has changed since the document was opened. */
  isChanged(number) {
    const at = this.changed.size ? this.blockAt(number) : -1;
    const { file, line, lines } = this.opened.blocks;
    return this.changed.has(file[at]) && number < line[at] + lines[at];
  }

  async load(page) {
    const { id, lines } = this.opened;
    this.pages.set(page, "loading");
    const line = page * PAGE_LINES + 1;
    try {
      const { text } = await this.page.api.post("/v1/document/read", { id, line, lines: Math.max(1, Math.min(PAGE_LINES, lines - line + 1)) });
      if (this.opened?.id !== id) return;
      this.pages.set(page, text.split("\n"));
      if (KEPT_PAGES < this.pages.size) this.pages.delete(this.pages.keys().next().value);
      this.rows.draw();
    } catch (error) {
      this.pages.delete(page);
      if (error.code !== "document_gone") return;
      await this.refresh();
      this.rows.draw();
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

  act(action) {
    const { rows } = this;
    if (!this.opened) return false;
    if (action === "filter") this.find.focus();
    else if (action === "copy") this.copy();
    else return rows.act(action);
    return true;
  }

  unmount() {
    clearTimeout(this.measuring);
    // An element that is removed from the page loses its scroll position.
    this.tops = this.lists.map(({ element }) => element.scrollTop);
  }
}
