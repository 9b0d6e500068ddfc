// The files view: a grid by folder, a filter, a selection, and actions on it.

import { BATCH } from "./batch.js";
import { el, field, fill, keep } from "./dom.js";
import { matcher } from "./find.js";
import { fileContent, fileRow, folderContent, folderRow } from "./file_rows.js";
import { count, plural } from "./format.js";
import { Inspector } from "./inspect.js";
import { openMenu } from "./menu.js";
import { lineNamed, nameOf } from "./pick.js";
import { Rows } from "./rows.js";
import { loweredPaths, visibleLines } from "./table.js";
import { TaskPane } from "./task.js";

const HEADS = ["cache", "file", "language", "shown as", "why", "lines", "tokens"];
/** How long a changed row is marked. */
const MARKED_MS = 2000;
/** The delay before a wait is announced. */
const UNSAID_MS = 300;
const PLAN_MS = 150;
export class FilesView {
  static id = "files";
  static title = "Files";

  constructor(page) {
    this.page = page;
    this.folded = page.folded;
    this.lines = [];
    /** The name of the current line, by which it is found again when lines come and go. */
    this.named = null;
    this.filter = field("input#filter", { type: "search", placeholder: "filter: path, view:full, lang:c", "aria-label": "Filter the files", title: "Words of the path; view:full, state:stale, lang:c, rule:mask, why:room", value: page.filterText, oninput: () => this.refilter(), onfocus: () => page.table && loweredPaths(page.table), onkeydown: (event) => this.onFilterKey(event) });
    this.selected = el("span#selected");
    this.buttons = BATCH.map(([action, label, title]) => el(`button#batch-${action}`, { title, onclick: () => this.batch(action) }, label));
    const heads = HEADS.map((name) => el("span", { role: "columnheader" }, name));
    this.rows = new Rows({ label: "Files", heads, content: (index) => this.content(index), render: (content) => (content.path === undefined ? folderRow(content) : fileRow(content)), onclick: (event) => this.click(event), ondblclick: () => this.open(), oncontextmenu: (event) => this.menu(event) });
    this.inspector = new Inspector(page);
    this.task = new TaskPane(page);
    this.empty = el("div.empty", { hidden: true });
    const batch = el("div.batch", { role: "group", "aria-label": "Show the selection as" }, ...this.buttons);
    this.element = el(
      "div.split",
      el("section.list", { "aria-label": "Files" }, el("div.bar", this.filter, this.selected, batch), this.rows.element, this.empty),
      this.inspector.element,
      this.task.element,
    );
    this.waiting = setTimeout(() => this.refresh(), UNSAID_MS);
  }

  show(route) {
    this.route = route;
    this.inspector.show(route);
    this.isSought = Boolean(route) && this.named !== route;
    if (route) this.named = route;
    this.refresh();
  }

  refilter() {
    this.page.filterText = this.filter.value;
    this.refresh();
    this.page.say(`${plural(this.lines.reduce((files, line) => files + Number(line >= 0), 0), "file")} shown`);
  }

  refresh(changes) {
    const { table, changedAt } = this.page;
    if (!table) return this.showEmpty("Listing the files …");
    clearTimeout(this.waiting);
    const hasTask = this.task.show(!this.route, changes);
    this.element.classList.toggle("inspecting", Boolean(this.route) || hasTask);
    const matches = matcher(this.filter.value)?.(table);
    this.lines = visibleLines(table, this.folded, matches);
    const at = this.lines.indexOf(lineNamed(table, this.named));
    this.rows.current = at;
    this.rows.show(this.lines.length);
    if (at >= 0 && this.isSought && !this.rows.isInSight(at)) this.rows.scrollTo(at - Math.floor(this.rows.inSight / 2));
    this.isSought = false;
    this.showEmpty(this.lines.length ? "" : table.files ? "No file matches the filter." : "There are no files yet. slop lists what git lists; `slop files` on the command line shows the same.");
    this.showSelection();
    if (changes) this.inspector.refresh(changes);
    if (changedAt.size) {
      clearTimeout(this.unmarking);
      this.unmarking = setTimeout(() => this.unmark(), MARKED_MS);
    }
  }

  showEmpty(text) {
    this.empty.hidden = !text;
    const clear = el("button", { onclick: () => this.clearFilter() }, "Clear the filter");
    fill(this.empty, el("p", text), this.filter.value && this.page.table && clear);
  }

  clearFilter() {
    this.filter.value = "";
    this.refilter();
    this.rows.element.focus();
  }

  onFilterKey(event) {
    const toGrid = event.key === "Enter" || event.key === "ArrowDown";
    if (!toGrid && event.key !== "Escape") return;
    keep(event);
    this.rows.element.focus();
    if (toGrid && this.rows.current < 0) this.move(this.lines.findIndex((line) => line >= 0));
  }

  unmark() {
    const limit = Date.now() - MARKED_MS;
    for (const [path, at] of this.page.changedAt) if (at <= limit) this.page.changedAt.delete(path);
    this.rows.draw();
  }

  /** Returns the content of a row, which determines how it is drawn. */
  content(index) {
    const line = this.lines[index];
    const { table, pick, changedAt } = this.page;
    if (line < 0) return folderContent(table, -1 - line, this.folded.has(table.folders[-1 - line]));
    const path = table.paths[line];
    return fileContent(table, line, { isSelected: pick.has(path), isChanged: changedAt.has(path) });
  }

  click(event) {
    const index = this.rows.indexOf(event);
    if (index < 0) return;
    const { table, pick } = this.page;
    const line = this.lines[index];
    if (event.target.closest(".fold")) {
      this.move(index);
      return this.open();
    }
    this.isExtending = false;
    if (event.shiftKey) pick.range(table, this.lines, line, this.folded);
    else if (event.ctrlKey || event.metaKey) pick.toggle(table, line);
    else pick.only(table, line);
    this.move(index);
    this.showSelection();
    this.rows.draw();
    // With the inspector open, a click is enough to inspect another file.
    if (this.route && line >= 0 && pick.size === 1) this.open();
  }

  /** Returns the current line, if there is one. */
  get line() {
    return this.lines[this.rows.current];
  }

  move(index) {
    this.rows.move(Math.max(0, index));
    const { line } = this;
    this.named = line === undefined ? null : nameOf(this.page.table, line);
  }

  /** Opens the menu of the current row, or of the one that was clicked. */
  menu(event) {
    const index = event.target.closest("[data-row]") ? this.rows.indexOf(event) : this.rows.current;
    const line = this.lines[index];
    if (line === undefined) return;
    event.preventDefault();
    const { page } = this;
    this.move(index);
    const name = nameOf(page.table, line);
    const isIn = line >= 0 ? page.pick.has(name) : false;
    if (!isIn) page.pick.only(page.table, line);
    this.showSelection();
    this.rows.draw();
    const box = this.rows.drawn.get(index)?.getBoundingClientRect();
    const at = event.button === 2 || !box ? { x: event.clientX, y: event.clientY } : { x: box.left + 160, y: box.bottom };
    const inspect = (tab) => () => {
      this.inspector.tab = tab;
      this.route === name ? this.inspector.load() : this.open();
    };
    const of = line >= 0
      ? [["Inspect", inspect("outline")], ["Mark lines", inspect("slices")], ["Why is it shown so?", inspect("why")], ["Show in the document", () => page.go(`document/${encodeURIComponent(name)}`)]]
      : [[this.folded.has(name.slice(0, -1)) ? "Unfold" : "Fold", () => this.open()]];
    openMenu(at, [...of, ["Focus on it", () => page.choose({ focus: name.replace(/\/$/, "/**") })], ...BATCH.map(([action, label, title]) => [`${label}: ${title}`, () => this.batch(action)])], this.rows.element);
  }

  /** Shows the size of the selection, and how many entries an edit of it would write. */
  showSelection() {
    const { pick, table } = this.page;
    const isEmpty = !pick.size;
    for (const button of this.buttons) button.disabled = isEmpty || !this.page.isConnected;
    const of = `${count(pick.size)} of ${count(table.files)} selected`;
    this.selected.textContent = isEmpty ? plural(table.files, "file") : of;
    this.planning?.abort();
    clearTimeout(this.planTimer);
    if (isEmpty) return;
    this.planning = new AbortController();
    const { signal } = this.planning;
    this.planTimer = setTimeout(async () => {
      try {
        const plan = await this.page.plan([{ set: { files: this.select(), ...BATCH[0][3] } }], signal);
        this.selected.textContent = `${of} → ${plural(plan.entries_written, "entry")}`;
        this.page.say(this.selected.textContent);
      } catch (error) {
        // After a conflict, the table is reloaded, and another plan with it.
        if (!signal.aborted && error.status !== 409) this.selected.textContent = `${of}: ${error.message}`;
      }
    }, PLAN_MS);
  }

  /** Returns the selection in the format of the API. */
  select() {
    const { pick, table } = this.page;
    return { clock: table.clock, rows: pick.ranges(table) };
  }

  async batch(action) {
    const { page } = this;
    if (!page.pick.size) {
      const { line } = this;
      if (line === undefined) return;
      page.pick.only(page.table, line);
    }
    const [, label, , change] = BATCH.find(([name]) => name === action);
    await page.edit(`${label} on ${plural(page.pick.size, "file")}`, [{ set: { files: this.select(), ...change } }]);
  }

  open() {
    const { line } = this;
    if (line === undefined) return;
    if (line < 0) this.fold(!this.folded.has(this.page.table.folders[-1 - line]));
    else this.page.inspect(this.page.table.paths[line]);
  }

  fold(isFolded) {
    const { line } = this;
    if (line === undefined) return;
    const { table } = this.page;
    if (line < 0) {
      this.folded[isFolded ? "add" : "delete"](table.folders[-1 - line]);
      this.refresh();
    } else if (isFolded) this.move(this.lines.slice(0, this.rows.current).findLastIndex((other) => other < 0));
  }

  /** Performs the action of a key. Returns whether it has one here. */
  act(action) {
    const { rows, lines, folded } = this;
    const { pick, table } = this.page;
    if (!table) return false;
    const at = rows.current;
    const wasExtending = this.isExtending;
    this.isExtending = action.startsWith("extend-");
    const extend = (to) => {
      // A range selected with Shift begins at the current row.
      if (!wasExtending) pick.anchor = lines[at] === undefined ? null : nameOf(table, lines[at]);
      this.move(to);
      pick.range(table, lines, lines[rows.current], folded);
    };
    const actions = {
      fold: () => this.fold(true),
      unfold: () => this.fold(false),
      select: () => at >= 0 && pick.toggle(table, lines[at]),
      range: () => at >= 0 && pick.range(table, lines, lines[at], folded),
      "extend-down": () => extend(at + 1),
      "extend-up": () => extend(at - 1),
      all: () => pick.all(table, lines, folded),
      open: () => this.open(),
      filter: () => this.filter.select(),
      escape: () => (pick.size ? pick.clear() : this.filter.value ? this.clearFilter() : this.route && this.page.go("files")),
    };
    if (rows.act(action, (to) => this.move(to))) return true;
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
    for (const timer of [this.planTimer, this.waiting, this.unmarking]) clearTimeout(timer);
    this.planning?.abort();
  }
}
