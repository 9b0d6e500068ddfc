// The view of all files: a grid by folder, a filter, a selection, and what can be done with it.

import { el, fill } from "./dom.js";
import { matcher } from "./find.js";
import { count, plural, visible } from "./format.js";
import { Inspector } from "./inspect.js";
import { nameOf } from "./pick.js";
import { Rows } from "./rows.js";
import { sums, visibleLines } from "./table.js";

/** The signs of states: each has its word, too, so that none is told by color alone. */
const SIGNS = { fresh: "●", stale: "◐", new: "○", left_out: "✕", agent: "◆" };
const ROW_PX = 26;
/** How long a row that has changed is marked. */
const MARKED_MS = 2000;
/** What takes back all flags but one, because the first rule that matches decides. */
const FLAGS = ["force_full", "ast_signatures", "ast_definitions", "view_mode"];
const without = (...kept) => FLAGS.filter((flag) => !kept.includes(flag));

/** The buttons of the batch bar: the action, the label, and the edit of a selection. */
const BATCH = [
  ["full", "Full", { to: { force_full: true, auto_aggregate: true }, unset: without("force_full") }],
  ["agg", "Agg", { to: { auto_aggregate: true }, unset: FLAGS }],
  ["sig", "Sig", { to: { ast_signatures: true, auto_aggregate: true }, unset: without("ast_signatures") }],
  ["def", "Def", { to: { ast_definitions: true, auto_aggregate: true }, unset: without("ast_definitions") }],
  ["remove", "Remove", { to: { auto_aggregate: false }, unset: [] }],
];

export const files = {
  id: "files",
  title: "Files",
  mount(pane, page) {
    const view = new FilesView(page);
    pane.append(view.element);
    return view;
  },
};

class FilesView {
  constructor(page) {
    this.page = page;
    this.folded = new Set();
    this.lines = [];
    this.filter = el("input", { id: "filter", type: "search", placeholder: "path, view:full, state:stale, lang:c", "aria-label": "Filter", autocomplete: "off" });
    this.filter.addEventListener("input", () => this.refresh());
    this.selected = el("span", { id: "selected" });
    this.buttons = BATCH.map(([action, label]) => el("button", { id: `batch-${action}`, text: label, onclick: () => this.batch(action) }));
    this.rows = new Rows({ label: "Files", height: ROW_PX, render: (index) => this.row(index) });
    this.rows.element.addEventListener("click", (event) => this.click(event));
    this.rows.element.addEventListener("dblclick", () => this.open());
    this.inspector = new Inspector(page);
    const heads = ["cache", "file", "language", "shown as", "why", "lines", "tokens"];
    const head = el("div", { class: "head", "aria-hidden": "true" }, ...heads.map((name) => el("span", { text: name })));
    this.empty = el("p", { class: "empty", hidden: true });
    this.element = el(
      "div",
      { class: "split" },
      el("section", { class: "list", "aria-label": "Files" }, el("div", { class: "bar" }, this.filter, this.selected, ...this.buttons), head, this.rows.element, this.empty),
      this.inspector.element,
    );
  }

  show(route) {
    this.route = route;
    this.inspector.show(route);
    this.element.classList.toggle("inspecting", Boolean(route));
    this.refresh();
  }

  refresh(changes) {
    const { table } = this.page;
    if (!table) return;
    const matches = matcher(this.filter.value);
    const current = this.lines[this.rows.current];
    const name = current === undefined || !this.named ? null : this.named;
    this.lines = visibleLines(table, this.folded, matches ? (row) => matches(table, row) : undefined);
    this.rows.show(this.lines.length);
    if (name) {
      const at = this.lines.findIndex((line) => nameOf(table, line) === name);
      if (at >= 0 && at !== this.rows.current) this.rows.move(at);
    }
    this.empty.hidden = this.lines.length > 0;
    this.empty.textContent = table.files ? "No file matches the filter." : "There are no files here yet: slop lists what git lists, or what is not ignored.";
    this.showSelection();
    if (changes) this.inspector.refresh(changes);
    if (this.page.changedAt.size) setTimeout(() => this.unmark(), MARKED_MS);
  }

  unmark() {
    const limit = Date.now() - MARKED_MS;
    for (const [path, at] of this.page.changedAt) if (at <= limit) this.page.changedAt.delete(path);
    this.rows.draw();
  }

  row(index) {
    const { table, pick, changedAt } = this.page;
    const line = this.lines[index];
    const cell = (text, props = {}) => el("span", { role: "gridcell", ...props, text });
    if (line < 0) {
      const folder = -1 - line;
      const sum = sums(table, folder);
      const name = table.folders[folder];
      const fold = this.folded.has(name) ? "▸" : "▾";
      return el(
        "div",
        { role: "row", class: "folder", "aria-expanded": String(!this.folded.has(name)) },
        cell(""),
        cell(`${fold} ${name ? `${visible(name)}/` : "(project)"}`),
        cell(""),
        cell(plural(sum.files, "file")),
        cell(""),
        cell(sum.lines ? count(sum.lines) : "", { class: "number" }),
        cell(count(sum.tokens), { class: "number" }),
      );
    }
    const get = (column) => table.columns[column][line];
    const path = table.paths[line];
    const name = path.slice(path.lastIndexOf("/") + 1);
    const state = get("state");
    const byModel = get("agent_tiers") ? "agent" : state;
    const view = get("view");
    const isSelected = pick.has(path);
    return el(
      "div",
      { role: "row", class: `file${changedAt.has(path) ? " changed" : ""}`, "aria-selected": String(isSelected), "data-state": state },
      cell(`${SIGNS[byModel]} ${byModel.replace("_", " ")}`, { class: "state" }),
      cell(visible(name), { title: visible(path) }),
      cell(get("language")),
      el("span", { role: "gridcell", class: "shown" }, el("i", { class: `step ${view}`, "aria-hidden": "true" }), view === "left_out" ? "–" : view.replace("_", " ")),
      cell(get("why") || get("rule").replace("_", " "), { title: get("why") }),
      cell(get("lines") ? count(get("lines")) : "", { class: "number" }),
      cell(get("tokens") ? count(get("tokens")) : "–", { class: "number" }),
    );
  }

  click(event) {
    const index = this.rows.indexOf(event);
    if (index < 0) return;
    const { table, pick } = this.page;
    const line = this.lines[index];
    if (event.shiftKey) pick.range(table, this.lines, line);
    else if (event.ctrlKey || event.metaKey) pick.toggle(table, line);
    else pick.only(table, line);
    this.move(index);
    this.showSelection();
    this.rows.draw();
  }

  move(index) {
    this.rows.move(index);
    const line = this.lines[this.rows.current];
    this.named = line === undefined ? null : nameOf(this.page.table, line);
  }

  /** Shows how much is selected, and how many entries an edit of it would write. */
  showSelection() {
    const { pick, table } = this.page;
    const isEmpty = !pick.size;
    const isOffline = document.body.classList.contains("offline");
    for (const button of this.buttons) button.disabled = isEmpty || isOffline;
    const of = `${count(pick.size)} of ${count(table.files)} selected`;
    this.selected.textContent = isEmpty ? plural(table.files, "file") : of;
    this.planning?.abort();
    if (isEmpty) return;
    this.planning = new AbortController();
    const { signal } = this.planning;
    clearTimeout(this.planTimer);
    this.planTimer = setTimeout(async () => {
      try {
        const plan = await this.page.plan([{ set: { files: this.select(), ...BATCH[0][2] } }], signal);
        this.selected.textContent = `${of} → ${plural(plan.entries_written, "entry").replace("entrys", "entries")}`;
      } catch (error) {
        if (!signal.aborted) this.selected.textContent = `${of}: ${error.message}`;
      }
    }, 150);
  }

  /** Returns the selection as the API takes it. */
  select() {
    const { pick, table } = this.page;
    return { clock: table.version, rows: pick.ranges(table) };
  }

  async batch(action) {
    const { page } = this;
    if (!page.pick.size) {
      const line = this.lines[this.rows.current];
      if (line === undefined) return;
      page.pick.only(page.table, line);
    }
    const [, label, change] = BATCH.find(([name]) => name === action);
    await page.edit(`${label} on ${plural(page.pick.size, "file")}`, [{ set: { files: this.select(), ...change } }]);
  }

  open() {
    const line = this.lines[this.rows.current];
    if (line === undefined) return;
    if (line < 0) this.fold(!this.folded.has(this.page.table.folders[-1 - line]));
    else this.page.go(`files/${encodeURIComponent(this.page.table.paths[line])}`);
  }

  fold(isFolded) {
    const line = this.lines[this.rows.current];
    if (line === undefined) return;
    const { table } = this.page;
    if (line >= 0) {
      const folder = this.lines.slice(0, this.rows.current).findLastIndex((other) => other < 0);
      if (isFolded) this.move(folder);
      return;
    }
    this.folded[isFolded ? "add" : "delete"](table.folders[-1 - line]);
    this.refresh();
  }

  /** Does what a key means here. Returns whether it means something. */
  act(action) {
    const { rows, lines } = this;
    const { pick, table } = this.page;
    if (!table) return false;
    const at = rows.current;
    const extend = (to) => {
      pick.anchor ??= lines[at] === undefined ? null : nameOf(table, lines[at]);
      this.move(to);
      pick.range(table, lines, lines[rows.current]);
    };
    const actions = {
      down: () => this.move(at + 1),
      up: () => this.move(Math.max(0, at - 1)),
      "page-down": () => this.move(at + rows.inSight - 1),
      "page-up": () => this.move(Math.max(0, at - rows.inSight + 1)),
      first: () => this.move(0),
      last: () => this.move(lines.length - 1),
      fold: () => this.fold(true),
      unfold: () => this.fold(false),
      select: () => at >= 0 && pick.toggle(table, lines[at]),
      range: () => at >= 0 && pick.range(table, lines, lines[at]),
      "extend-down": () => extend(at + 1),
      "extend-up": () => extend(Math.max(0, at - 1)),
      all: () => pick.all(table, lines),
      open: () => this.open(),
      filter: () => this.filter.focus(),
      escape: () => (pick.size ? pick.clear() : this.route && this.page.go("files")),
    };
    if (actions[action]) {
      actions[action]();
      this.showSelection();
      rows.draw();
      return true;
    }
    if (!BATCH.some(([name]) => name === action)) return false;
    this.batch(action);
    return true;
  }

  unmount() {
    clearTimeout(this.planTimer);
    fill(this.element);
  }
}
