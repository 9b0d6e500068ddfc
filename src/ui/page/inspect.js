// The inspector: the symbols of one file and how each is shown, marked lines, views, and why the file is shown as it is.

import { el, fill } from "./dom.js";
import { bytes, clock, count, plural, visible } from "./format.js";
import { Rows } from "./rows.js";
import { SliceEditor } from "./slices.js";
import { reasons } from "./task.js";

const SHOWS = [["def", "Def"], ["sig", "Sig"], ["hide", "Hide"]];
const TABS = ["outline", "slices", "views", "why", "seen"];
const MODES = ["full", "skeleton", "outline", "summary"];
const ROW_PX = 26;

/** Returns the symbols of an outline in their order, each with its depth. */
export function flatten(symbols, depth = 0, above = []) {
  return symbols.flatMap((symbol) => {
    const name = symbol.qualified_name ?? symbol.name;
    return [{ symbol, name, depth, above }, ...flatten(symbol.children ?? [], depth + 1, [...above, name])];
  });
}

export class Inspector {
  constructor(page) {
    this.page = page;
    this.path = "";
    this.tab = "outline";
    this.title = el("h2");
    const close = el("button", { id: "close-inspector", "aria-label": "close the inspector", onclick: () => page.go("files"), text: "close" });
    const tab = (id) => el("button", { id: `tab-${id}`, role: "tab", "aria-controls": "inspected", onclick: () => this.choose(id), text: id });
    this.tabs = TABS.map(tab);
    const list = el("div", { role: "tablist", "aria-label": "What is shown of the file" }, ...this.tabs);
    list.addEventListener("keydown", (event) => this.onTabKey(event));
    this.body = el("div", { id: "inspected", class: "body", role: "tabpanel", tabindex: "-1" });
    this.element = el("aside", { id: "inspector", class: "pane", "aria-label": "Inspector", hidden: true }, el("header", {}, this.title, close), list, this.body);
    this.slices = new SliceEditor(page);
  }

  show(path) {
    this.element.hidden = !path;
    if (path === this.path) return;
    this.path = path;
    if (path) this.load();
  }

  choose(tab) {
    this.tab = tab;
    this.load();
  }

  onTabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(TABS[(TABS.indexOf(this.tab) + step + TABS.length) % TABS.length]);
    this.tabs[TABS.indexOf(this.tab)].focus();
  }

  /** Follows a change: of the file itself, or of what is curated. */
  refresh(changes) {
    if (!this.path || this.body.contains(document.activeElement?.closest("input[type=text], textarea"))) return;
    const isChanged = this.page.changedAt.has(this.path);
    const mask = JSON.stringify(this.entry()?.item.ast_mask ?? {});
    const isOther = this.tab === "outline" ? mask !== JSON.stringify(this.mask) : changes.has("curation");
    if (isChanged || isOther) this.load();
  }

  async load() {
    const { path, tab } = this;
    for (const [at, button] of this.tabs.entries()) {
      button.setAttribute("aria-selected", String(TABS[at] === tab));
      button.tabIndex = TABS[at] === tab ? 0 : -1;
    }
    this.title.textContent = visible(path);
    try {
      const makers = { outline: () => this.outline(), slices: () => this.slices.load(path), views: () => this.views(), why: () => this.why(), seen: () => this.seen() };
      const content = await makers[tab]();
      if (path !== this.path || tab !== this.tab) return;
      this.body.className = `body ${tab}`;
      const { top, focused } = this.place ?? {};
      fill(this.body, ...content);
      this.shown = `${tab} ${path}`;
      if (tab === "outline") this.drawSymbols(top ?? 0, focused);
      if (tab === "slices") this.slices.draw();
    } catch (error) {
      // Without a connection, what is shown stays.
      if (path !== this.path || (error.status === 0 && this.shown === `${tab} ${path}`)) return;
      this.shown = "";
      fill(this.body, el("p", { class: "error", text: error.message }), el("p", { class: "hint", text: error.hint ?? "" }), el("button", { onclick: () => this.load(), text: "Try again" }));
    }
  }

  /** Returns the entry that is spelled as the file's path. */
  entry() {
    return this.page.curation?.items.findLast(({ item }) => item.path === this.path);
  }

  async outline() {
    const { path } = this;
    const [outline] = await this.page.api.post("/v1/outline", { files: [path] });
    if (!outline) return [el("p", { class: "empty", text: "This file has no text that can be shown." })];
    const entry = this.entry();
    this.mask = { ...entry?.item.ast_mask };
    this.symbols = flatten(outline.symbols ?? []);
    const list = this.list?.element;
    const row = list?.contains(document.activeElement) ? this.list.indexOf({ target: document.activeElement }) : -1;
    this.place = this.listed === path && list?.isConnected ? { top: list.scrollTop, focused: row < 0 ? undefined : row } : {};
    this.listed = path;
    const gone = (entry?.mask ?? []).filter(({ found }) => !found);
    const health = outline.health < 1 ? ` · ${(outline.health * 100).toFixed(1)} % parsed` : "";
    const facts = el("p", { class: "facts" }, el("span", { text: `${outline.language} · ${plural(outline.lines ?? 0, "line")} · ${plural(this.symbols.length, "symbol")}${health}` }));
    this.clearButton = el("button", { id: "clear-mask", onclick: () => this.change({}, `mask of ${path} cleared`, { set: { files: { paths: [path] }, to: {}, unset: ["ast_mask"] } }), text: "Clear mask" });
    facts.append(this.clearButton);
    const head = el("div", { class: "heads", "aria-hidden": "true" }, ...SHOWS.map(([, label]) => el("span", { text: label })), el("span", { text: "symbol" }));
    this.list = new Rows({ label: "Symbols", height: ROW_PX, role: "list", render: (index) => this.symbolRow(index) });
    this.preview = el("pre", { id: "preview", tabindex: "0", "aria-label": "Preview" });
    this.previewed = el("p", { class: "facts", text: "preview" });
    this.showPreview();
    return [
      facts,
      gone.length > 0 && el("div", { class: "gone" }, ...gone.map(({ symbol, nearest }) => el("p", {}, el("b", { text: visible(symbol) }), ` is gone from the file${nearest?.length ? `; near it: ${nearest.join(", ")}` : ""} `, el("button", { onclick: () => this.unset(symbol), text: "remove" })))),
      this.symbols.length > 0 && head,
      this.symbols.length ? this.list.element : el("p", { class: "empty", text: "This file has no symbols." }),
      this.previewed,
      this.preview,
    ];
  }

  /** Draws the symbols, at the place and with the focus that they had before. */
  drawSymbols(top, focused) {
    this.list.show(this.symbols.length);
    this.list.element.scrollTop = top;
    this.list.draw(false);
    if (focused !== undefined) this.focus(focused);
    this.clearButton.disabled = !Object.keys(this.mask).length;
  }

  symbolRow(index) {
    const { symbol, name, depth, above } = this.symbols[index];
    const chosen = this.mask[name];
    const inherited = chosen ? undefined : above.map((parent) => this.mask[parent]).findLast(Boolean);
    const radio = ([value, label]) => {
      const input = el("input", { type: "radio", name: `mask-${index}`, value, checked: chosen === value, class: inherited === value ? "inherited" : "", "aria-label": `${label} ${name}`, title: inherited === value ? `${label}, as what it is in` : label });
      input.addEventListener("change", () => this.set(name, value, index));
      return input;
    };
    const group = el("span", { role: "radiogroup", "aria-label": name }, ...SHOWS.map(radio));
    group.addEventListener("keydown", (event) => this.onKey(event, name, index));
    const { kind, start_line: start, end_line: end } = symbol;
    const label = el("span", { class: "symbol" }, el("span", { class: "faint", text: `[${kind[0].toUpperCase()}${kind.slice(1).replaceAll("_", " ")}] ` }), visible(symbol.name), el("span", { class: "faint", text: start === end ? ` (Line ${start})` : ` (Lines ${start}-${end})` }));
    label.style.paddingLeft = `${Math.min(depth, 12) * 16}px`;
    return el("div", { role: "listitem", class: `symbol-row${chosen ? " chosen" : ""}` }, group, label);
  }

  onKey(event, name, index) {
    const chosen = { d: "def", s: "sig", h: "hide" }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (!chosen && event.key !== "x")) return;
    event.preventDefault();
    event.stopPropagation();
    if (chosen) this.set(name, chosen, index);
    else this.unset(name, index);
  }

  set(name, value, index) {
    this.change({ ...this.mask, [name]: value }, `${value} on ${name}`, { mask: { path: this.path, set: { [name]: value } } }, index);
  }

  unset(name, index) {
    const { [name]: _, ...mask } = this.mask;
    this.change(mask, `${name} off the mask`, { mask: { path: this.path, unset: [name] } }, index);
  }

  /** Shows a mask at once, and writes it. If it could not be written, the one that is written is shown again. */
  async change(mask, label, edit, index) {
    const before = this.mask;
    this.mask = mask;
    this.clearButton.disabled = !Object.keys(mask).length;
    this.list.draw();
    this.focus(index);
    this.showPreview();
    if (await this.page.edit(label, [edit])) return;
    this.mask = before;
    this.load();
  }

  /** Focuses the choice of a symbol; without one, of the first in sight. @param {number} [index] */
  focus(index = this.list.first) {
    const row = this.list.drawn.get(index);
    (row?.querySelector("input:checked") ?? row?.querySelector("input"))?.focus();
  }

  async showPreview() {
    const { path, mask } = this;
    const query = Object.keys(mask).length ? { files: [path], items: [{ path, ast_mask: mask }] } : { files: [path], mode: "skeleton" };
    this.previewing?.abort();
    this.previewing = new AbortController();
    const { signal } = this.previewing;
    try {
      const [view] = await this.page.api.post("/v1/view", query, signal);
      this.preview.textContent = visible(view?.text ?? "", true);
      this.previewed.textContent = view ? `preview: ${view.view.replaceAll("_", " ")}, ${bytes(new Blob([view.text]).size)}` : "preview: nothing to show";
    } catch (error) {
      if (!signal.aborted) this.preview.textContent = error.message;
    }
  }

  async views() {
    const files = [this.path];
    const shown = await Promise.all(MODES.map((mode) => this.page.api.post("/v1/view", { files, mode })));
    return shown.map(([view], at) => {
      const instead = view && view.view !== MODES[at] ? `, shown as ${view.view.replaceAll("_", " ")}` : "";
      const head = el("p", { class: "facts" }, el("i", { class: `step ${MODES[at]}`, "aria-hidden": "true" }), el("b", { text: MODES[at] }), view ? `${instead} · ${bytes(new Blob([view.text]).size)}` : " · nothing to show");
      return el("section", {}, head, el("pre", { tabindex: "0", "aria-label": MODES[at], text: visible(view?.text ?? "", true) }));
    });
  }

  async why() {
    const [answer] = await this.page.api.post("/v1/explain", { file: this.path, choice: this.page.choice() });
    if (!answer) return [el("p", { class: "empty", text: "Nothing is known of this file." })];
    const rule = ({ rule: name, view }) => {
      const decides = name === answer.decided_by;
      return el("li", { class: decides ? "decides" : view ? "" : "faint" }, name.replaceAll("_", " "), view ? ` → ${view.replaceAll("_", " ")}` : "", decides ? ", which decides" : "");
    };
    return [
      el("p", { text: answer.left_out ? `Left out: ${answer.left_out}` : `Shown as ${(answer.view ?? answer.wanted).replaceAll("_", " ")}, ${plural(answer.tokens ?? 0, "token")}` }),
      answer.why && el("p", { text: answer.why }),
      ...limited(answer.under_limits),
      el("p", { class: "faint", text: "The first rule that says something decides:" }),
      el("ol", { class: "rules" }, ...answer.rules.map(rule)),
      ...(answer.remarks ?? []).map((remark) => el("p", { text: typeof remark === "string" ? remark : JSON.stringify(remark) })),
    ];
  }

  /** What agents were given of the file, and what has changed since. */
  async seen() {
    const { names } = await this.page.api.post("/v1/given", {});
    if (!names.length) return [el("p", { class: "empty", text: "No agent was given a document under a name yet: slop aggregate --name NAME." })];
    const shown = await Promise.all(names.slice(0, 4).map(({ name, curation }) => this.page.api.post("/v1/given", { name, curation, file: this.path })));
    return shown.map(({ file }, at) => {
      const { name, at_ms: when } = names[at];
      const facts = el("p", { class: "facts" }, el("b", { text: visible(name) }), when ? ` · ${clock(when)}` : "", ` · ${file?.state ?? "not in it"}${file?.reason ? `, ${file.reason}` : ""}`);
      return el("section", {}, facts, file?.diff && el("pre", { class: "diff", tabindex: "0", "aria-label": `What has changed since ${name}` }, ...file.diff.split("\n").map(diffLine)));
    });
  }
}

/** Returns what the limits of the document do to a file, and how its rank comes about. */
function limited(effect) {
  if (!effect) return [];
  const { view, why, place, files, score, symbols } = effect;
  return [
    el("p", { text: `Within the limit: ${view ? view.replaceAll("_", " ") : "no room"}${why ? `, ${why}` : ""}. Rank ${count(place)} of ${count(files)}.` }),
    score.parts.length > 0 && el("p", { class: "faint", text: `Rank by ${reasons(score.parts)}` }),
    symbols.length > 0 && el("ul", { class: "hits" }, ...symbols.map((symbol) => el("li", {}, el("b", { text: visible(symbol.name) }), el("span", { class: "faint", text: ` lines ${symbol.start_line}-${symbol.end_line}: ${reasons(symbol.score.parts)}` })))),
  ];
}

function diffLine(line) {
  return el(line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span", { text: `${visible(line)}\n` });
}
