// Marked lines of a file: which there are, where they are now, and new ones.

import { el, fill } from "./dom.js";
import { plural, visible } from "./format.js";
import { Rows } from "./rows.js";

const LINE_PX = 20;
/** What a slice is called that is not where it was written. */
const STATES = { exact: "exact", moved: "moved", changed: "changed", stale: "stale" };

export class SliceEditor {
  constructor(page) {
    this.page = page;
    this.path = "";
    this.lines = [];
    /** The lines that are chosen: where the choice began, and where it ends. @type {[number, number]|null} */
    this.range = null;
  }

  /** Returns what the tab shows. @param {string} path */
  async load(path) {
    const [view] = await this.page.api.post("/v1/view", { files: [path], mode: "full" });
    const isSame = path === this.path;
    const entry = this.page.curation?.items.findLast(({ item }) => item.path === path);
    this.path = path;
    this.slices = entry?.slices ?? [];
    this.lines = (view?.text ?? "").replace(/\n$/, "").split("\n");
    const top = isSame ? (this.rows?.element.scrollTop ?? 0) : 0;
    if (!isSame) this.range = null;
    this.top = top;
    this.hadFocus = isSame && Boolean(this.rows?.element.contains(document.activeElement));
    this.rows = new Rows({ label: "Lines of the file", height: LINE_PX, role: "listbox", render: (index) => this.line(index) });
    const { element } = this.rows;
    element.classList.add("lines");
    element.addEventListener("pointerdown", (event) => this.begin(event));
    element.addEventListener("pointerover", (event) => event.buttons && this.extend(event));
    element.addEventListener("keydown", (event) => this.onKey(event));
    this.tag = el("input", { type: "text", id: "slice-tag", size: 10, autocomplete: "off" });
    this.comment = el("input", { type: "text", id: "slice-comment", size: 20, autocomplete: "off" });
    for (const input of [this.tag, this.comment]) input.addEventListener("keydown", (event) => event.key === "Enter" && this.save());
    this.add = el("button", { id: "slice-add", onclick: () => this.save() });
    const list = el("ul", { class: "slices" }, ...this.slices.map((slice, index) => this.slice(slice, index)));
    if (!this.slices.length) fill(list, el("li", { class: "faint", text: "No lines are marked. Drag over lines, or choose them with ↑ ↓ and Shift, then press s." }));
    return [list, el("div", { class: "fields" }, el("label", {}, "tag ", this.tag), el("label", {}, "comment ", this.comment), this.add), element];
  }

  /** Draws the lines, once they are in the page. */
  draw() {
    this.rows.show(this.lines.length);
    this.rows.element.scrollTop = this.top;
    // The lines were drawn anew because the file or its marks changed, not because the user went elsewhere.
    if (this.hadFocus) this.rows.element.focus();
    this.showRange();
  }

  line(index) {
    const number = index + 1;
    const isSliced = this.slices.some(({ resolved }) => resolved.start_line <= number && number <= resolved.end_line);
    const [first, last] = this.ordered();
    const isChosen = first <= number && number <= last;
    return el("div", { role: "option", class: `line${isSliced ? " sliced" : ""}`, "aria-selected": String(isChosen) }, el("i", { text: String(number) }), visible(this.lines[index], true) || " ");
  }

  slice({ tag, comment, resolved }, index) {
    const { path } = this;
    const { status, start_line: start, end_line: end, reason } = resolved;
    const was = status === "exact" || !reason ? "" : ` (${reason})`;
    const takeOver = () => this.page.edit(`lines ${start}-${end} of ${path} taken over`, [{ slice_change: { path, index, start_line: start, end_line: end } }]);
    const remove = () => this.page.edit(`lines ${start}-${end} of ${path} not marked`, [{ slice_remove: { path, index } }]);
    return el(
      "li",
      { class: `slice ${status}` },
      el("button", { class: "link", text: start === end ? `line ${start}` : `lines ${start}-${end}`, onclick: () => this.rows.move(start - 1) }),
      tag && el("b", { text: visible(tag) }),
      el("span", { class: "status", text: `${STATES[status] ?? status}${was}` }),
      comment && el("span", { class: "comment", text: visible(comment) }),
      status !== "exact" && el("button", { onclick: takeOver, text: "take over" }),
      el("button", { "aria-label": `remove lines ${start}-${end}`, onclick: remove, text: "remove" }),
    );
  }

  /** Returns the first and the last chosen line. @returns {[number, number]} */
  ordered() {
    const [from, to] = this.range ?? [0, -1];
    return from <= to || !this.range ? [from, to] : [to, from];
  }

  begin(event) {
    const line = this.rows.indexOf(event) + 1;
    if (!line || event.button) return;
    event.preventDefault();
    this.rows.element.focus();
    this.select(event.shiftKey && this.range ? this.range[0] : line, line);
  }

  extend(event) {
    const line = this.rows.indexOf(event) + 1;
    if (line && this.range) this.select(this.range[0], line);
  }

  select(from, to) {
    if (this.range?.[0] === from && this.range[1] === to) return;
    this.range = [from, to];
    this.rows.move(to - 1);
    const [first, last] = this.ordered();
    // The rows stay: a new one below the pointer would be entered again.
    for (const [index, row] of this.rows.drawn) row.setAttribute("aria-selected", String(first <= index + 1 && index < last));
    this.showRange();
  }

  showRange() {
    const [first, last] = this.ordered();
    this.add.disabled = !this.range;
    this.add.textContent = !this.range ? "Mark lines" : first === last ? `Mark line ${first}` : `Mark lines ${first}-${last}`;
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.rows.inSight - 1, PageUp: 1 - this.rows.inSight }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) {
      const [from, to] = this.range ?? [this.rows.first + 1, this.rows.first];
      const next = Math.max(1, Math.min(this.lines.length, to + step));
      this.select(event.shiftKey ? from : next, next);
      this.page.say(this.add.textContent);
    } else if (event.key === "s" && this.range) this.save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async save() {
    if (!this.range) return;
    const [first, last] = this.ordered();
    const { path, tag, comment } = this;
    const slice = { path, start_line: first, end_line: last, tag: tag.value, comment: comment.value };
    this.range = null;
    tag.blur();
    comment.blur();
    await this.page.edit(`${plural(last - first + 1, "line")} of ${path} marked`, [{ slice_add: slice }]);
  }
}
