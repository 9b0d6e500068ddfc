// The task pane: the highest-ranked files and symbols with the reasons, and the effect of the task on the document.

import { el, fill } from "./dom.js";
import { count, plural, spaced, visible } from "./format.js";
import { Pane } from "./pane.js";
import { changesBetween, decode } from "./table.js";

const MOST_HITS = 60;
const MOST_CHANGES = 200;

/** The delay after the last change of files before the task is evaluated again. */
const CHANGED_MS = 1000;

/** Formats a score. @param {number} thousandths */
const score = (thousandths) => (thousandths / 1000).toFixed(2);

/** Returns the parts of a score, largest first. @param {{part: string, thousandths: number}[]} parts */
export const reasons = (parts) => [...parts].sort((one, other) => other.thousandths - one.thousandths).map(({ part, thousandths }) => `${spaced(part)} ${score(thousandths)}`).join(", ");

export class TaskPane extends Pane {
  constructor(page) {
    super(page, { name: "task", list: "What the task is about", tabs: ["ranked", "changes"], close: () => this.close() });
    this.body.tabIndex = 0;
  }

  /** Shows the pane if there is a task. Returns whether it is shown. @param {boolean} hasRoom @param {Set<string>} [changes] */
  show(hasRoom, changes) {
    const { task } = this.page.chosen;
    const isShown = hasRoom && Boolean(task) && task !== this.closed;
    this.element.hidden = !isShown;
    const asked = JSON.stringify(this.page.choice());
    clearTimeout(this.waiting);
    if (isShown && asked !== this.asked) {
      this.asked = asked;
      this.load();
    } else if (isShown && changes) this.waiting = setTimeout(() => this.load(), CHANGED_MS);
    return isShown;
  }

  close() {
    this.closed = this.page.chosen.task;
    this.page.shown.refresh();
  }

  async load() {
    const { tab, page } = this;
    this.mark(visible(page.chosen.task));
    const asked = this.asked;
    const question = `${tab} ${asked}`;
    if (this.answered !== question) fill(this.body, el("p.empty", tab === "ranked" ? "Ranking the files …" : "Comparing the documents …"));
    this.answered = question;
    try {
      const content = await this[tab]();
      if (tab === this.tab && asked === this.asked) fill(this.body, ...content);
    } catch (error) {
      if (tab === this.tab) this.fail(error);
    }
  }

  async ranked() {
    const { hits, matched } = await this.page.api.post("/v1/search", { query: this.page.chosen.task, limit: MOST_HITS });
    if (!matched || !hits.length) return [el("p.empty", "Nothing in the project matches the task.")];
    const hit = ({ path, kind, name, start_line: start, end_line: end, score: { thousandths, parts } }) =>
      el(
        "li",
        el("button.link", { onclick: () => this.page.inspect(path) }, visible(path)),
        name && el("b", ` ${visible(name)}`),
        el("span.faint", kind === "file" ? " file" : ` ${kind}, ${start === end ? `line ${start}` : `lines ${start}-${end}`}`),
        el("div.faint", el("span.score", score(thousandths)), ` ${reasons(parts)}`),
      );
    return [el("ol.hits", ...hits.map(hit))];
  }

  /** Shows the differences from the document without the task. */
  async changes() {
    const { page } = this;
    const without = decode(await page.api.post("/v1/table", { choice: page.choice({ ...page.chosen, task: "" }) }));
    const changes = changesBetween(without, page.table);
    const [before, after] = [without.total.tokens, page.table.total.tokens];
    const sum = `${plural(changes.length, "file")} shown in another way; ${count(after)} tokens instead of ${count(before)}${without.exact && page.table.exact ? "" : ", as estimated"}`;
    const row = ({ path, from, to }) =>
      el(
        "li",
        el("button.link", { onclick: () => page.inspect(path) }, visible(path)),
        el("div.faint", `${shownAs(from)} → ${shownAs(to)}`),
      );
    return [
      el("p.facts", sum),
      el("ul.hits", ...changes.slice(0, MOST_CHANGES).map(row)),
      MOST_CHANGES < changes.length && el("p.faint", `and ${count(changes.length - MOST_CHANGES)} more`),
    ];
  }
}

const shownAs = ({ view, tokens }) => (view === "left_out" ? "not in it" : `${spaced(view)} ${count(tokens)}`);
