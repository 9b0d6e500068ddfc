// Marked lines of a file: which there are, where they are now, and new ones.

import { el } from "./dom.js";
import { visible } from "./format.js";

export class SliceEditor {
  constructor(page) {
    this.page = page;
    this.range = null;
  }

  /** Returns what the tab shows. @param {string} path */
  async load(path) {
    const [view] = await this.page.api.post("/v1/view", { files: [path], mode: "full" });
    const entry = this.page.curation?.items.find(({ item }) => item.path === path);
    const slices = entry?.slices ?? [];
    this.range = null;
    this.text = el("ol", { class: "lines", tabindex: "0", "aria-label": "Lines of the file" });
    const lines = (view?.text ?? "").split("\n").slice(0, 5000);
    lines.forEach((line, at) => this.text.append(el("li", { "data-line": at + 1, text: visible(line) })));
    slices.forEach(({ resolved }) => this.mark(resolved.start_line, resolved.end_line, "sliced"));
    this.tag = el("input", { type: "text", id: "slice-tag", size: 12 });
    this.comment = el("input", { type: "text", id: "slice-comment", size: 24 });
    this.add = el("button", { id: "slice-add", disabled: true, onclick: () => this.save(path), text: "Mark lines" });
    this.text.addEventListener("pointerdown", (event) => this.begin(event));
    this.text.addEventListener("pointerover", (event) => event.buttons && this.extend(event));
    this.text.addEventListener("keydown", (event) => this.onKey(event, path));
    return [
      ...slices.map((slice, index) => this.row(path, slice, index)),
      !slices.length && el("p", { class: "empty", text: "No lines are marked. Drag over lines, or move with the arrow keys and extend with Shift." }),
      el("p", { class: "bar" }, el("label", {}, "tag ", this.tag), el("label", {}, "comment ", this.comment), this.add),
      this.text,
    ];
  }

  row(path, { tag, comment, resolved }, index) {
    const { status, start_line: start, end_line: end, reason } = resolved;
    const take = { slice_change: { path, index, start_line: start, end_line: end } };
    return el(
      "p",
      { class: `slice ${status}` },
      el("b", { text: `${start}-${end}` }),
      ` ${tag || "lines"}: ${status}${status === "exact" ? "" : ` (${reason})`}${comment ? `, ${comment}` : ""} `,
      status === "stale" && el("button", { onclick: () => this.page.edit(`lines ${start}-${end} taken over`, [take]), text: "take over" }),
      el("button", { "aria-label": `Remove the lines ${start}-${end}`, onclick: () => this.page.edit(`lines ${start}-${end} not marked any more`, [{ slice_remove: { path, index } }]), text: "remove" }),
    );
  }

  mark(first, last, name) {
    for (let line = first; line <= last; line += 1) this.text.children[line - 1]?.classList.add(name);
  }

  lineOf(event) {
    return Number(event.target.closest("[data-line]")?.dataset.line ?? 0);
  }

  begin(event) {
    const line = this.lineOf(event);
    if (!line) return;
    event.preventDefault();
    this.text.focus();
    this.select(event.shiftKey && this.range ? this.range[0] : line, line);
  }

  extend(event) {
    const line = this.lineOf(event);
    if (line && this.range) this.select(this.range[0], line);
  }

  select(from, to) {
    this.range = [from, to];
    for (const item of this.text.children) item.classList.remove("chosen");
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    this.mark(first, last, "chosen");
    this.text.children[to - 1]?.scrollIntoView({ block: "nearest" });
    this.add.disabled = false;
    this.add.textContent = first === last ? `Mark line ${first}` : `Mark lines ${first}-${last}`;
  }

  onKey(event, path) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const [from, to] = this.range ?? [1, 0];
      const next = Math.max(1, Math.min(this.text.children.length, to + step));
      this.select(event.shiftKey ? from : next, next);
    } else if (event.key === "s" && this.range) this.save(path);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  save(path) {
    if (!this.range) return null;
    const [first, last] = [Math.min(...this.range), Math.max(...this.range)];
    const slice = { path, start_line: first, end_line: last, tag: this.tag.value, comment: this.comment.value };
    return this.page.edit(`lines ${first}-${last} of ${path}`, [{ slice_add: slice }]);
  }
}
