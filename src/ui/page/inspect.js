// The inspector: the symbols of one file, how each is shown, marked lines, and why the file is shown as it is.

import { el, fill } from "./dom.js";
import { count, plural, visible } from "./format.js";
import { SliceEditor } from "./slices.js";

const SHOWS = [["def", "Def"], ["sig", "Sig"], ["hide", "Hide"]];
const TABS = [["outline", "outline"], ["slices", "slices"], ["views", "views"], ["why", "why"]];
const PREVIEW_MS = 80;

function ruleItem({ rule, view }, decidedBy) {
  const decides = rule === decidedBy;
  return el("li", { class: decides ? "decides" : "" }, `${rule.replaceAll("_", " ")}${view ? ` → ${view}` : ""}${decides ? " (decides)" : ""}`);
}

export class Inspector {
  constructor(page) {
    this.page = page;
    this.path = "";
    this.tab = "outline";
    this.head = el("header");
    this.tabs = el("div", { role: "tablist", "aria-label": "What is shown of the file" }, ...TABS.map(([id, label]) => el("button", { id: `tab-${id}`, role: "tab", onclick: () => this.choose(id), text: label })));
    this.body = el("div", { class: "body", role: "tabpanel" });
    this.element = el("aside", { id: "inspector", "aria-label": "Inspector", hidden: true }, this.head, this.tabs, this.body);
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

  refresh() {
    if (this.path && !this.element.contains(document.activeElement?.closest("input[type=text], textarea"))) this.load();
  }

  async load() {
    const { path, page } = this;
    for (const [id] of TABS) this.tabs.querySelector(`#tab-${id}`).setAttribute("aria-selected", String(id === this.tab));
    fill(
      this.head,
      el("h2", { text: visible(path) }),
      el("button", { id: "close-inspector", "aria-label": "Close the inspector", onclick: () => page.go("files"), text: "close" }),
    );
    try {
      const content = await { outline: () => this.outline(path), slices: () => this.slices.load(path), views: () => this.views(path), why: () => this.why(path) }[this.tab]();
      if (path === this.path) fill(this.body, ...content);
    } catch (error) {
      fill(this.body, el("p", { class: "error", text: error.message }), el("p", { class: "hint", text: error.hint ?? "" }), el("button", { onclick: () => this.load(), text: "try again" }));
    }
  }

  /** Returns the entry that is spelled as the file's path. */
  entry(path) {
    return this.page.curation?.items.find(({ item }) => item.path === path);
  }

  async outline(path) {
    const [outline] = await this.page.api.post("/v1/outline", { files: [path] });
    if (!outline) return [el("p", { class: "empty", text: "Nothing is known of this file: it has no text that can be shown." })];
    const entry = this.entry(path);
    const mask = entry?.item.ast_mask ?? {};
    const gone = (entry?.mask ?? []).filter(({ found }) => !found);
    const list = el("ul", { class: "symbols" });
    const health = outline.health < 1 ? `, ${(outline.health * 100).toFixed(1)} % parsed` : "";
    this.addSymbols(list, outline.symbols ?? [], mask, undefined, 0);
    this.preview = el("pre", { id: "preview", tabindex: "0", "aria-label": "Preview" });
    this.showPreview(path, mask);
    return [
      el("p", { class: "faint", text: `${outline.language}, ${plural(outline.lines ?? 0, "line")}${health}` }),
      list.children.length ? list : el("p", { class: "empty", text: "This file has no symbols." }),
      gone.length && el("div", { class: "gone" }, el("h3", { text: "Gone from the file" }), ...gone.map(({ symbol, nearest }) => el("p", { text: `${symbol}${nearest?.length ? ` (near: ${nearest.join(", ")})` : ""}` }))),
      el("p", { class: "buttons" }, el("button", { id: "clear-mask", disabled: !Object.keys(mask).length, onclick: () => this.clear(path), text: "Clear mask" })),
      el("h3", { text: "Preview" }),
      this.preview,
    ];
  }

  addSymbols(list, symbols, mask, inherited, depth) {
    for (const symbol of symbols) {
      const name = symbol.qualified_name ?? symbol.name;
      const chosen = mask[name];
      const group = el("span", { role: "radiogroup", "aria-label": name });
      for (const [value, label] of SHOWS) {
        const radio = el("input", { type: "radio", name: `mask ${name} ${symbol.start_line}`, value, checked: chosen === value, "aria-label": `${label} ${name}` });
        radio.addEventListener("change", () => this.mask({ set: { [name]: value } }, `${label} on ${name}`));
        radio.addEventListener("keydown", (event) => this.onKey(event, name));
        group.append(el("label", { class: !chosen && inherited === value ? "inherited" : "" }, radio, label));
      }
      const lines = symbol.start_line === symbol.end_line ? `Line ${symbol.start_line}` : `Lines ${symbol.start_line}-${symbol.end_line}`;
      const label = el("span", { class: "symbol" }, el("span", { class: "faint", text: `[${symbol.kind}] ` }), visible(symbol.name), el("span", { class: "faint", text: ` (${lines})` }));
      label.style.paddingLeft = `${Math.min(depth, 12)}em`;
      list.append(el("li", {}, group, label));
      this.addSymbols(list, symbol.children ?? [], mask, chosen ?? inherited, depth + 1);
    }
  }

  onKey(event, name) {
    const chosen = { d: "def", s: "sig", h: "hide" }[event.key];
    if (!chosen && event.key !== "x") return;
    event.preventDefault();
    event.stopPropagation();
    if (chosen) this.mask({ set: { [name]: chosen } }, `${chosen} on ${name}`);
    else this.mask({ unset: [name] }, `${name} off the mask`);
  }

  mask(change, label) {
    return this.page.edit(label, [{ mask: { path: this.path, ...change } }]);
  }

  clear(path) {
    return this.page.edit(`mask of ${path} cleared`, [{ set: { files: { paths: [path] }, to: {}, unset: ["ast_mask"] } }]);
  }

  showPreview(path, mask) {
    clearTimeout(this.previewing);
    this.previewing = setTimeout(async () => {
      const isMasked = Object.keys(mask).length > 0;
      try {
        const query = isMasked ? { files: [path], items: [{ path, ast_mask: mask }] } : { files: [path], mode: "skeleton" };
        const [view] = await this.page.api.post("/v1/view", query);
        this.preview.textContent = view?.text ?? "";
      } catch (error) {
        this.preview.textContent = error.message;
      }
    }, PREVIEW_MS);
  }

  async views(path) {
    const modes = ["full", "skeleton", "outline", "summary"];
    const shown = await Promise.all(modes.map((mode) => this.page.api.post("/v1/view", { files: [path], mode })));
    return shown.flatMap(([view], at) => [
      el("h3", { text: `${modes[at]}${view && view.view !== modes[at] ? `: shown as ${view.view}` : ""}` }),
      el("p", { class: "faint", text: view ? `${count(new Blob([view.text]).size)} bytes` : "nothing to show" }),
      el("pre", { tabindex: "0", "aria-label": modes[at], text: view?.text ?? "" }),
    ]);
  }

  async why(path) {
    const [explanation] = await this.page.api.post("/v1/explain", { file: path, choice: this.page.choice() });
    const rules = explanation?.rules ?? [];
    return [
      el("p", { text: explanation.left_out ? `Left out: ${explanation.left_out}` : `Shown as ${explanation.view}, ${count(explanation.tokens)} tokens` }),
      explanation.why && el("p", { text: explanation.why }),
      el("ol", { class: "rules" }, ...rules.map((rule) => ruleItem(rule, explanation.decided_by))),
    ];
  }
}
