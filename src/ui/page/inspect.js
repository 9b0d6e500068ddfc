// The inspector: the symbols of one file and how each is shown, marked lines, views, and why the file is shown as it is.

import { el, fill, keep, sign } from "./dom.js";
import { bytes, clock, count, plural, spaced, visible } from "./format.js";
import { Pane } from "./pane.js";
import { Rows } from "./rows.js";
import { SliceEditor } from "./slices.js";
import { reasons } from "./task.js";

const SHOWS = [["def", "Def"], ["sig", "Sig"], ["hide", "Hide"]];
const MODES = ["full", "skeleton", "outline", "summary"];

/** Returns the symbols of an outline in order, each with its depth. */
export function flatten(symbols, depth = 0, above = []) {
  return symbols.flatMap((symbol) => {
    const name = symbol.qualified_name ?? symbol.name;
    return [{ symbol, name, depth, above }, ...flatten(symbol.children ?? [], depth + 1, [...above, name])];
  });
}

export class Inspector extends Pane {
  constructor(page) {
    super(page, { name: "inspector", list: "What is shown of the file", tabs: ["outline", "slices", "views", "why", "seen"], close: () => page.go("files") });
    this.path = "";
    this.slices = new SliceEditor(page);
  }

  show(path) {
    this.element.hidden = !path;
    if (path === this.path) return;
    this.path = path;
    if (path) this.load();
  }

  /** Refreshes after a change of the file or of the curation. */
  refresh(changes) {
    if (!this.path || this.body.contains(document.activeElement?.closest("input[type=text], textarea"))) return;
    const isChanged = this.page.changedAt.has(this.path);
    const mask = JSON.stringify(this.entry()?.item.ast_mask ?? {});
    const isOther = this.tab === "outline" ? mask !== JSON.stringify(this.mask) : changes.has("curation");
    if (isChanged || isOther) this.load();
  }

  async load() {
    const { path, tab } = this;
    this.mark(visible(path));
    try {
      const content = await (tab === "slices" ? this.slices.load(path) : this[tab]());
      if (path !== this.path || tab !== this.tab) return;
      this.body.className = `body ${tab}`;
      const { top, focused } = this.place ?? {};
      fill(this.body, ...content);
      this.shown = `${tab} ${path}`;
      if (tab === "outline") this.drawSymbols(top ?? 0, focused);
      if (tab === "slices") this.slices.draw();
    } catch (error) {
      // Without a connection, the current content is kept.
      if (path !== this.path || (error.status === 0 && this.shown === `${tab} ${path}`)) return;
      this.shown = "";
      this.fail(error);
    }
  }

  /** Returns the entry with exactly the file's path. */
  entry() {
    return this.page.curation?.items.findLast(({ item }) => item.path === this.path);
  }

  async outline() {
    const { path } = this;
    const [outline] = await this.page.api.post("/v1/outline", { files: [path] });
    if (!outline) return [el("p.empty", "This file has no text that can be shown.")];
    const entry = this.entry();
    this.mask = { ...entry?.item.ast_mask };
    this.symbols = flatten(outline.symbols ?? []);
    const list = this.list?.element;
    const row = list?.contains(document.activeElement) ? this.list.indexOf({ target: document.activeElement }) : -1;
    this.place = this.listed === path && list?.isConnected ? { top: list.scrollTop, focused: row < 0 ? undefined : row } : {};
    this.listed = path;
    const gone = (entry?.mask ?? []).filter(({ found }) => !found);
    const health = outline.health < 1 ? ` · ${(outline.health * 100).toFixed(1)} % parsed` : "";
    const facts = el("p.facts", el("span", `${outline.language} · ${plural(outline.lines ?? 0, "line")} · ${plural(this.symbols.length, "symbol")}${health}`));
    this.clearButton = el("button#clear-mask", { onclick: () => this.change({}, `mask of ${path} cleared`, { set: { files: { paths: [path] }, to: {}, unset: ["ast_mask"] } }) }, "Clear mask");
    facts.append(this.clearButton);
    const head = el("div.heads", { "aria-hidden": "true" }, ...SHOWS.map(([, label]) => el("span", label)), el("span", "symbol"));
    this.list = new Rows({ label: "Symbols", role: "list", render: (index) => this.symbolRow(index) });
    this.preview = el("pre#preview", { tabindex: "0", "aria-label": "Preview" });
    this.previewed = el("p.facts", "preview");
    this.showPreview();
    return [
      facts,
      gone.length > 0 && el("div.gone", ...gone.map(({ symbol, nearest }) => el("p", el("b", visible(symbol)), ` is gone from the file${nearest?.length ? `; near it: ${nearest.join(", ")}` : ""} `, el("button", { onclick: () => this.unset(symbol) }, "remove")))),
      this.symbols.length > 0 && head,
      this.symbols.length ? this.list.element : el("p.empty", "This file has no symbols."),
      this.previewed,
      this.preview,
    ];
  }

  /** Draws the symbols, and keeps the scroll position and the focus. */
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
      const isInherited = inherited === value;
      return el("input", { type: "radio", name: `mask-${index}`, value, checked: chosen === value, class: isInherited && "inherited", "aria-label": `${label} ${name}`, title: isInherited ? `${label}, as what it is in` : label, onchange: () => this.set(name, value, index) });
    };
    const group = el("span", { role: "radiogroup", "aria-label": name, onkeydown: (event) => this.onKey(event, name, index) }, ...SHOWS.map(radio));
    const { kind, start_line: start, end_line: end } = symbol;
    const label = el("span.symbol", el("span.faint", `[${kind[0].toUpperCase()}${spaced(kind.slice(1))}] `), visible(symbol.name), el("span.faint", start === end ? ` (Line ${start})` : ` (Lines ${start}-${end})`));
    label.style.paddingLeft = `${Math.min(depth, 12) * 16}px`;
    return el(`div.symbol-row${chosen ? ".chosen" : ""}`, { role: "listitem" }, group, label);
  }

  onKey(event, name, index) {
    const chosen = { d: "def", s: "sig", h: "hide" }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (!chosen && event.key !== "x")) return;
    keep(event);
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

  /** Shows a mask at once, and writes it. If that fails, the stored mask is shown again. */
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

  /** Focuses the control of a symbol; by default, of the first visible one. @param {number} [index] */
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
      this.previewed.textContent = view ? `preview: ${spaced(view.view)}, ${bytes(new Blob([view.text]).size)}` : "preview: nothing to show";
    } catch (error) {
      if (!signal.aborted) this.preview.textContent = error.message;
    }
  }

  async views() {
    const files = [this.path];
    const shown = await Promise.all(MODES.map((mode) => this.page.api.post("/v1/view", { files, mode })));
    return shown.map(([view], at) => {
      const instead = view && view.view !== MODES[at] ? `, shown as ${spaced(view.view)}` : "";
      const head = el("p.facts", sign(`i.step.${MODES[at]}`), el("b", MODES[at]), view ? `${instead} · ${bytes(new Blob([view.text]).size)}` : " · nothing to show");
      return el("section", head, el("pre", { tabindex: "0", "aria-label": MODES[at] }, visible(view?.text ?? "", true)));
    });
  }

  async why() {
    const [answer] = await this.page.api.post("/v1/explain", { file: this.path, choice: this.page.choice() });
    if (!answer) return [el("p.empty", "Nothing is known of this file.")];
    const rule = ({ rule: name, view }) => {
      const decides = name === answer.decided_by;
      return el("li", { class: decides ? "decides" : view ? "" : "faint" }, spaced(name), view ? ` → ${spaced(view)}` : "", decides ? ", which decides" : "");
    };
    return [
      el("p", answer.left_out ? `Left out: ${answer.left_out}` : `Shown as ${spaced(answer.view ?? answer.wanted)}, ${plural(answer.tokens ?? 0, "token")}`),
      answer.why && el("p", answer.why),
      ...limited(answer.under_limits),
      el("p.faint", "The first rule that says something decides:"),
      el("ol.rules", ...answer.rules.map(rule)),
      ...(answer.remarks ?? []).map((remark) => el("p", typeof remark === "string" ? remark : JSON.stringify(remark))),
    ];
  }

  /** What was delivered of the file, and what has changed since. */
  async seen() {
    const { names } = await this.page.api.post("/v1/given", {});
    if (!names.length) return [el("p.empty", "No agent was given a document under a name yet: slop aggregate --name NAME.")];
    const shown = await Promise.all(names.slice(0, 4).map(({ name, curation }) => this.page.api.post("/v1/given", { name, curation, file: this.path })));
    return shown.map(({ file }, at) => {
      const { name, at_ms: when } = names[at];
      const facts = el("p.facts", el("b", visible(name)), when ? ` · ${clock(when)}` : "", ` · ${file?.state ?? "not in it"}${file?.reason ? `, ${file.reason}` : ""}`);
      return el("section", facts, file?.diff && el("pre.diff", { tabindex: "0", "aria-label": `What has changed since ${name}` }, ...file.diff.split("\n").map(diffLine)));
    });
  }
}

/** Returns how the document's limits affect a file, and how its rank was computed. */
function limited(effect) {
  if (!effect) return [];
  const { view, why, place, files, score, symbols } = effect;
  return [
    el("p", `Within the limit: ${view ? spaced(view) : "no room"}${why ? `, ${why}` : ""}. Rank ${count(place)} of ${count(files)}.`),
    score.parts.length > 0 && el("p.faint", `Rank by ${reasons(score.parts)}`),
    symbols.length > 0 && el("ul.hits", ...symbols.map((symbol) => el("li", el("b", visible(symbol.name)), el("span.faint", ` lines ${symbol.start_line}-${symbol.end_line}: ${reasons(symbol.score.parts)}`)))),
  ];
}

function diffLine(line) {
  return el(line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span", { text: `${visible(line)}\n` });
}
