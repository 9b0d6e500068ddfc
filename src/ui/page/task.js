// What a task is about: the files and symbols that it ranks highest, with the reasons, and what it changes in the document.

import { el, fill } from "./dom.js";
import { count, plural, visible } from "./format.js";
import { changesBetween, decode } from "./table.js";

const TABS = ["ranked", "changes"];
const MOST_HITS = 60;
const MOST_CHANGES = 200;

/** So long after the last change of files is asked again. */
const QUIET_MS = 1000;

/** Returns a score as it is written. @param {number} thousandths */
const score = (thousandths) => (thousandths / 1000).toFixed(2);

/** Returns the parts of a score, the largest first. @param {{part: string, thousandths: number}[]} parts */
export const reasons = (parts) => [...parts].sort((one, other) => other.thousandths - one.thousandths).map(({ part, thousandths }) => `${part.replaceAll("_", " ")} ${score(thousandths)}`).join(", ");

export class TaskPane {
  constructor(page) {
    this.page = page;
    this.tab = TABS[0];
    this.title = el("h2");
    const close = el("button", { id: "close-task", "aria-label": "close the task's pane", text: "close", onclick: () => this.close() });
    this.tabs = TABS.map((id) => el("button", { id: `task-${id}`, role: "tab", "aria-controls": "task-body", text: id, onclick: () => this.choose(id) }));
    const list = el("div", { role: "tablist", "aria-label": "What the task is about" }, ...this.tabs);
    list.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      event.preventDefault();
      event.stopPropagation();
      this.choose(TABS.find((id) => id !== this.tab) ?? this.tab);
      this.tabs[TABS.indexOf(this.tab)].focus();
    });
    this.body = el("div", { id: "task-body", class: "body", role: "tabpanel", tabindex: "0" });
    this.element = el("aside", { id: "task-pane", class: "pane", "aria-label": "Task", hidden: true }, el("header", {}, this.title, close), list, this.body);
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
    } else if (isShown && changes) this.waiting = setTimeout(() => this.load(), QUIET_MS);
    return isShown;
  }

  close() {
    this.closed = this.page.chosen.task;
    this.page.shown.refresh();
  }

  choose(tab) {
    this.tab = tab;
    this.load();
  }

  async load() {
    const { tab, page } = this;
    for (const [at, button] of this.tabs.entries()) {
      button.setAttribute("aria-selected", String(TABS[at] === tab));
      button.tabIndex = TABS[at] === tab ? 0 : -1;
    }
    this.title.textContent = visible(page.chosen.task);
    const asked = this.asked;
    const question = `${tab} ${asked}`;
    if (this.answered !== question) fill(this.body, el("p", { class: "empty", text: tab === "ranked" ? "Ranking the files …" : "Comparing the documents …" }));
    this.answered = question;
    try {
      const content = await (tab === "ranked" ? this.ranked() : this.changes());
      if (tab === this.tab && asked === this.asked) fill(this.body, ...content);
    } catch (error) {
      if (tab === this.tab) fill(this.body, el("p", { class: "error", text: error.message }), el("p", { class: "hint", text: error.hint ?? "" }));
    }
  }

  async ranked() {
    const { hits, matched } = await this.page.api.post("/v1/search", { query: this.page.chosen.task, limit: MOST_HITS });
    if (!matched || !hits.length) return [el("p", { class: "empty", text: "Nothing in the project matches the task." })];
    const hit = ({ path, kind, name, start_line: start, end_line: end, score: { thousandths, parts } }) =>
      el(
        "li",
        {},
        el("button", { class: "link", onclick: () => this.page.go(`files/${encodeURIComponent(path)}`) }, visible(path)),
        name && el("b", { text: ` ${visible(name)}` }),
        el("span", { class: "faint", text: kind === "file" ? " file" : ` ${kind}, ${start === end ? `line ${start}` : `lines ${start}-${end}`}` }),
        el("div", { class: "faint" }, el("span", { class: "score", text: score(thousandths) }), ` ${reasons(parts)}`),
      );
    return [el("ol", { class: "hits" }, ...hits.map(hit))];
  }

  /** What the document shows in another way than it would without the task. */
  async changes() {
    const { page } = this;
    const without = decode(await page.api.post("/v1/table", { choice: page.choice({ ...page.chosen, task: "" }) }));
    const changes = changesBetween(without, page.table);
    const [before, after] = [without.total.tokens, page.table.total.tokens];
    const sum = `${plural(changes.length, "file")} shown in another way; ${count(after)} tokens instead of ${count(before)}${without.exact && page.table.exact ? "" : ", as estimated"}`;
    const row = ({ path, from, to }) =>
      el(
        "li",
        {},
        el("button", { class: "link", onclick: () => page.go(`files/${encodeURIComponent(path)}`) }, visible(path)),
        el("div", { class: "faint", text: `${shown(from)} → ${shown(to)}` }),
      );
    return [
      el("p", { class: "facts", text: sum }),
      el("ul", { class: "hits" }, ...changes.slice(0, MOST_CHANGES).map(row)),
      MOST_CHANGES < changes.length && el("p", { class: "faint", text: `and ${count(changes.length - MOST_CHANGES)} more` }),
    ];
  }
}

const shown = ({ view, tokens }) => (view === "left_out" ? "not in it" : `${view.replaceAll("_", " ")} ${count(tokens)}`);
