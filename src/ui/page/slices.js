// The slices of a file: lists them with their current lines, and marks new ones.

import { el, field, fill, keep } from "./dom.js";
import { plural, visible } from "./format.js";
import { Rows } from "./rows.js";

/** The height of a line, as in slop.css. */
export const LINE_PX = 20;

/**
 * Returns where lines are in another version of their file, or null if the lines themselves have changed.
 * @param {[number, number]} range counted from 1, in either direction @param {string[]} before @param {string[]} after
 * @returns {[number, number]|null}
 */
export function follow(range, before, after) {
  const shorter = Math.min(before.length, after.length);
  let same = 0;
  while (same < shorter && before[same] === after[same]) same += 1;
  if (Math.max(...range) <= same) return range;
  let end = 0;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  if (Math.min(...range) <= before.length - end) return null;
  const shift = after.length - before.length;
  return [range[0] + shift, range[1] + shift];
}

export class SliceEditor {
  constructor(page) {
    this.page = page;
    this.path = "";
    this.lines = [];
    /** The selected lines: where the selection began, and where it ends. @type {[number, number]|null} */
    this.range = null;
    const heard = { onpointerdown: (event) => this.begin(event), onpointerover: (event) => event.buttons && this.extend(event), onkeydown: (event) => this.onKey(event) };
    this.rows = new Rows({ label: "Lines of the file", height: LINE_PX, role: "listbox", render: (index) => this.line(index), ...heard });
    this.rows.element.classList.add("lines");
  }

  /** Returns the content of the tab. @param {string} path */
  async load(path) {
    this.wanted = path;
    const lines = await this.text(path);
    if (path !== this.wanted) return [];
    const isSame = path === this.path;
    this.range = isSame ? this.followed(lines) : null;
    const entry = this.page.curation?.items.findLast(({ item }) => item.path === path);
    this.path = path;
    this.slices = entry?.slices ?? [];
    this.lines = lines;
    const { element } = this.rows;
    this.top = isSame ? element.scrollTop : 0;
    if (!isSame) this.rows.current = -1;
    this.hadFocus = isSame && element.contains(document.activeElement);
    const enter = () => this.save();
    this.tag = field("input#slice-tag", { size: 10, enter });
    this.comment = field("input#slice-comment", { size: 20, enter });
    this.add = el("button#slice-add", { onclick: enter });
    const list = el("ul.slices", ...this.slices.map((slice, index) => this.slice(slice, index)));
    if (!this.slices.length) fill(list, el("li.faint", "No lines are marked. Drag over lines, or choose them with ↑ ↓ and Shift, then press s."));
    return [list, el("div.fields", el("label", "tag ", this.tag), el("label", "comment ", this.comment), this.add), element];
  }

  /** Returns the current lines of a file. @param {string} path @returns {Promise<string[]>} */
  async text(path) {
    const [view] = await this.page.api.post("/v1/view", { files: [path], mode: "full" });
    return (view?.text ?? "").replace(/\n$/, "").split("\n");
  }

  /** Returns where the selected lines are now, and announces it if they are no longer selected. @param {string[]} lines */
  followed(lines) {
    const range = this.range && follow(this.range, this.lines, lines);
    if (this.range && !range) this.page.say("the chosen lines have changed: choose them again");
    return range;
  }

  /** Draws the lines, once they are in the page. */
  draw() {
    this.rows.show(this.lines.length);
    this.rows.element.scrollTop = this.top;
    // The lines were redrawn because the file or its slices changed, not because the user went elsewhere.
    if (this.hadFocus) this.rows.element.focus();
    this.showRange();
  }

  line(index) {
    const number = index + 1;
    const isSliced = this.slices.some(({ resolved }) => resolved.start_line <= number && number <= resolved.end_line);
    const [first, last] = this.ordered();
    const isChosen = first <= number && number <= last;
    return el(`div.line${isSliced ? ".sliced" : ""}`, { role: "option", "aria-selected": String(isChosen) }, el("i", String(number)), visible(this.lines[index], true) || " ");
  }

  slice({ tag, comment, resolved }, index) {
    const { path } = this;
    const { status, start_line: start, end_line: end, reason } = resolved;
    const was = status === "exact" || !reason ? "" : ` (${reason})`;
    // The button is removed with its slice, so the lines get the focus.
    const edit = (label, change) => {
      this.rows.element.focus();
      this.page.edit(label, [change]);
    };
    const takeOver = () => edit(`lines ${start}-${end} of ${path} taken over`, { slice_change: { path, index, start_line: start, end_line: end } });
    const remove = () => edit(`lines ${start}-${end} of ${path} not marked`, { slice_remove: { path, index } });
    return el(
      `li.slice.${status}`,
      el("button.link", { onclick: () => this.rows.move(start - 1) }, start === end ? `line ${start}` : `lines ${start}-${end}`),
      tag && el("b", visible(tag)),
      el("span.status", `${status}${was}`),
      comment && el("span.comment", visible(comment)),
      status !== "exact" && el("button", { onclick: takeOver }, "take over"),
      el("button", { "aria-label": `remove lines ${start}-${end}`, onclick: remove }, "remove"),
    );
  }

  /** Returns the first and the last selected line. @returns {[number, number]} */
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
    // The rows are kept: a new one below the pointer would fire another event.
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
      const at = this.rows.current < 0 ? this.rows.first : this.rows.current + 1;
      const [from, to] = this.range ?? [at, at];
      const next = Math.max(1, Math.min(this.lines.length, to + step));
      this.select(event.shiftKey ? from : next, next);
      this.page.say(this.add.textContent);
    } else if (event.key === "s" && this.range) this.save();
    else return;
    keep(event);
  }

  async save() {
    if (!this.range) return;
    const { path, tag, comment, rows } = this;
    rows.element.focus();
    // While a field is edited, the lines are not redrawn: the file may have changed since.
    const lines = await this.text(path).catch((error) => this.page.fail(error));
    if (!lines || path !== this.path || !this.range) return;
    const range = this.followed(lines);
    this.range = range;
    this.lines = lines;
    rows.show(lines.length);
    if (!range) return this.showRange();
    const [first, last] = this.ordered();
    const slice = { path, start_line: first, end_line: last, tag: tag.value, comment: comment.value };
    this.range = null;
    const isWritten = await this.page.edit(`${plural(last - first + 1, "line")} of ${path} marked`, [{ slice_add: slice }]);
    if (isWritten || path !== this.path) return;
    this.range = range;
    this.showRange();
  }
}
