// The view of the cache: how much is stored, and what can be cleared.

import { ask, el, fill, table } from "./dom.js";
import { bytes, count } from "./format.js";

export const cache = {
  id: "cache",
  title: "Cache",
  mount(pane, page) {
    const body = el("div", { class: "sheet" });
    pane.append(el("h1", { text: "Cache" }), body);
    const view = new CacheView(body, page);
    return view;
  },
};

class CacheView {
  constructor(body, page) {
    this.body = body;
    this.page = page;
    this.report = el("p", { id: "cache-report", role: "status" });
  }

  async show() {
    await this.refresh();
  }

  async refresh() {
    try {
      const size = await this.page.api.get("/v1/cache/status");
      fill(this.body, ...this.content(size), this.report);
    } catch (error) {
      fill(this.body, el("p", { class: "error", text: error.message }), el("p", { class: "hint", text: error.hint ?? "" }));
    }
  }

  content(size) {
    const number = (text) => el("span", { class: "number", text });
    const rows = size.artifacts.map(({ artifact, rows: entries, bytes: stored }) => [artifact.replaceAll("_", " "), number(count(entries)), number(bytes(stored))]);
    rows.push(["known files", number(count(size.files)), ""], ["contents", number(count(size.contents)), ""], ["contents that no file has", number(count(size.idle_contents)), ""], ["on disk", "", number(bytes(size.bytes_on_disk))]);
    const { agent } = size;
    const paid = agent?.summaries ? `${count(agent.summaries)} summaries by models, which cost $${agent.spent_usd}` : "no summaries by models";
    const button = (id, text, question, body, isDanger) =>
      el("button", { id, class: isDanger ? "danger" : "", text, onclick: () => this.clear(question, body) });
    return [
      table(["what", "entries", "size"], rows, "What is stored"),
      el("p", { text: `Kept apart: ${paid}.` }),
      el(
        "p",
        { class: "buttons" },
        button("clear-summaries", "Clear Summary Cache", { title: "Clear the summary cache?", text: "Deletes the summaries that slop derived. They are derived again when they are needed, at no cost. Summaries by models stay.", confirm: "Clear Summary Cache" }, { summaries: true }),
        button("clear-all", "Clear everything derived", { title: "Clear everything derived?", text: "Deletes outlines, skeletons, summaries and references. They are derived again when they are needed. Summaries by models stay.", confirm: "Clear everything derived" }, {}),
        button("clear-agent", "What models wrote …", { title: "Delete what models wrote?", text: `Deletes ${paid}. Writing them again costs money.`, confirm: "Delete what models wrote" }, { agent: true }, true),
        el("button", { id: "verify", text: "Verify", onclick: () => this.run("/v1/cache/verify", {}, "verified") }),
        el("button", { id: "collect", text: "Delete what no file holds", onclick: () => this.run("/v1/cache/gc", {}, "deleted") }),
      ),
    ];
  }

  async clear(question, body) {
    if (await ask(question)) await this.run("/v1/cache/clear", body, "cleared");
  }

  async run(path, body, what) {
    this.report.textContent = "…";
    try {
      const done = await this.page.api.post(path, body);
      const facts = Object.entries(done).filter(([, value]) => typeof value === "number").map(([key, value]) => `${key.replaceAll("_", " ")} ${count(value)}`);
      this.report.textContent = `${what}: ${facts.join(", ") || "done"}`;
    } catch (error) {
      this.report.textContent = `${error.message}. ${error.hint}`;
    }
    this.page.say(this.report.textContent);
    await this.refresh();
  }

  unmount() {}
}
