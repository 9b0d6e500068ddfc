// The page: its top bar, which view is shown, and what all views share.

import { connect } from "./api.js";
import { budget } from "./budget.js";
import { cache } from "./cache.js";
import { daemon } from "./daemon.js";
import { byId, el, fill } from "./dom.js";
import { document_ } from "./document.js";
import { forget, token } from "./door.js";
import { files } from "./files.js";
import { clock } from "./format.js";
import { showHelp } from "./help.js";
import { history as past } from "./history.js";
import { actionOf } from "./keys.js";
import { Pick } from "./pick.js";
import { apply, decode } from "./table.js";

const VIEWS = [files, document_, budget, cache, past, daemon];
const TIERS = ["1 orchestrator", "2 tech lead", "3 worker", "4 QA"];
/** At most so often the table is asked for again while files change. */
const REFRESH_MS = 250;
/** How long a spinner is not worth showing. */
const SAID_MS = 1000;

/** What views share: the API, the table, the selection, the choice and what is curated. */
class Page {
  constructor(api) {
    this.api = api;
    this.pick = new Pick();
    /** @type {import("./table.js").Table|null} */
    this.table = null;
    this.curation = null;
    this.changedAt = new Map();
    this.letters = localStorage.getItem("letters") !== "off";
    this.chosen = { tier: 3, ...JSON.parse(sessionStorage.getItem("choice") ?? "{}") };
    this.lastSaid = 0;
  }

  /** Returns what the document is made for, as the API takes it. */
  choice() {
    const { tier, budget: limit, focus, task } = this.chosen;
    const choice = { tier };
    if (limit) choice.budget = limit;
    if (focus) choice.focus = focus.split(/\s*,\s*/).filter(Boolean);
    if (task) choice.task = task;
    return choice;
  }

  async choose(part) {
    Object.assign(this.chosen, part);
    sessionStorage.setItem("choice", JSON.stringify(this.chosen));
    showChoice(this);
    await this.reload();
  }

  /** Says something to those who do not see it. @param {string} text */
  say(text) {
    const wait = Math.max(0, this.lastSaid + SAID_MS - Date.now());
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      this.lastSaid = Date.now();
      byId("said").textContent = text;
    }, wait);
  }

  /** Asks for the table: all of it, or what has changed since the one that is here. */
  async loadTable(isWhole = false) {
    const since = isWhole ? null : (this.table?.version ?? null);
    const answer = await this.api.post("/v1/table", { choice: this.choice(), since });
    const now = Date.now();
    if (this.table && answer.rows) {
      const { changed } = apply(this.table, answer);
      for (const row of changed ?? []) this.changedAt.set(this.table.paths[row], now);
    } else {
      this.table = decode(answer);
      this.pick.retain(this.table);
    }
    return this.table;
  }

  async loadCuration() {
    this.curation = await this.api.get("/v1/curation");
    showHistoryButtons(this);
    return this.curation;
  }

  /** Edits what is curated. Returns what was written, or null if it could not be. */
  async edit(label, edits) {
    return this.write(async (revision) => {
      const done = await this.api.post("/v1/curation/edit", { revision, label, edits });
      this.say(`${label}: ${done.entries_written} entries written, ${done.files_affected} files affected`);
      return done;
    });
  }

  /** Returns how many entries an edit would write. */
  async plan(edits, signal) {
    const { revision } = this.curation ?? (await this.loadCuration());
    return this.api.post("/v1/curation/edit", { revision, label: "", edits, dry_run: true }, signal);
  }

  /** Goes to another state of slop.toml. @param {"undo"|"redo"|"jump"} way @param {number} [to] */
  async travel(way, to) {
    return this.write(async (revision) => {
      const moved = await this.api.post(`/v1/${way}`, way === "jump" ? { revision, to } : { revision });
      this.say(`now: ${moved.entry.label}`);
      return moved;
    });
  }

  async write(work) {
    const { revision } = this.curation ?? (await this.loadCuration());
    try {
      const done = await work(revision);
      await this.reload();
      return done;
    } catch (error) {
      if (error.code === "revision_moved") {
        await this.reload();
        this.fail({ message: "slop.toml was edited elsewhere meanwhile; nothing was overwritten", hint: "this is how it is now: make the edit again if it is still wanted" });
      } else this.fail(error);
      return null;
    }
  }

  /** Gets everything again that may have changed. */
  async reload(changes = new Set(["changed", "curation"])) {
    try {
      await Promise.all([this.loadTable(), this.loadCuration()]);
      this.fail(null);
    } catch (error) {
      this.fail(error);
    }
    this.shown?.refresh(changes);
  }

  /** Shows an error above everything, or removes it. */
  fail(error) {
    const banner = byId("banner");
    banner.hidden = !error;
    if (!error) return;
    if (error.status === 401) {
      forget();
      fill(banner, "This session has ended. Run ", el("code", { text: "slop ui" }), " for a new one.");
      return;
    }
    fill(banner, error.message, error.hint ? el("span", { class: "hint", text: ` ${error.hint}` }) : "");
  }

  go(hash) {
    location.hash = hash;
  }
}

function showView(page) {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const view = VIEWS.find(({ id }) => id === name) ?? files;
  for (const link of byId("views").children) {
    if (link.id === `to-${view.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const route = decodeURIComponent(rest.join("/"));
  if (page.view === view) return page.shown.show(route);
  page.shown?.unmount();
  page.view = view;
  document.title = `${view.title} – slop`;
  const pane = byId("view");
  pane.className = view.id;
  fill(pane);
  page.shown = view.mount(pane, page);
  page.shown.show(route);
}

function showChoice(page) {
  const field = (label, name, props) => {
    const input = el("input", { id: `choice-${name}`, value: page.chosen[name] ?? "", autocomplete: "off", ...props });
    input.addEventListener("change", () => {
      const text = input.value.trim();
      page.choose({ [name]: name === "budget" ? Number(text.replace(/\D/g, "")) || null : text });
    });
    return el("label", {}, label, input);
  };
  const tier = el("select", { id: "choice-tier", onchange: () => page.choose({ tier: Number(tier.value) }) });
  TIERS.forEach((name, at) => tier.append(el("option", { value: at + 1, text: name })));
  tier.value = String(page.chosen.tier);
  fill(
    byId("choice"),
    el("label", {}, "tier ", tier),
    field("budget ", "budget", { inputmode: "numeric", size: 7, title: "tokens; empty for the tier's own" }),
    field("focus ", "focus", { size: 14, title: "paths or names, with commas between them" }),
    field("task ", "task", { size: 22, title: "what the reader is about to do" }),
  );
}

function showHistoryButtons(page) {
  const { can_undo: canUndo, can_redo: canRedo } = page.curation;
  fill(
    byId("history-buttons"),
    el("button", { id: "undo", disabled: !canUndo, onclick: () => page.travel("undo"), text: "undo" }),
    el("button", { id: "redo", disabled: !canRedo, onclick: () => page.travel("redo"), text: "redo" }),
  );
}

function listen(page) {
  let waiting = null;
  const kinds = new Set();
  const heard = ({ kind }) => {
    kinds.add(kind);
    waiting ??= setTimeout(async () => {
      waiting = null;
      const seen = new Set(kinds);
      kinds.clear();
      await page.reload(seen);
    }, REFRESH_MS);
  };
  let wasConnected = true;
  page.api.events(heard, (connected) => {
    document.body.classList.toggle("offline", !connected);
    byId("live").textContent = connected ? "● live" : `○ not connected, as of ${clock(Date.now())}`;
    // Events may have been missed meanwhile.
    if (connected && !wasConnected) heard({ kind: "fresh_instance" });
    wasConnected = connected;
  });
}

function onKey(page, event) {
  if (document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input:not([type=radio]):not([type=checkbox]), textarea, select");
  const action = actionOf(event, { typing, letters: page.letters });
  if (!action) return;
  if (typing) return event.target.blur();
  const isControl = event.target.matches("button, a, summary, input");
  if (isControl && (action === "open" || action === "select")) return;
  if (action.startsWith("view-")) page.go(VIEWS[Number(action.slice(5)) - 1].id);
  else if (action === "undo" || action === "redo") page.travel(action);
  else if (action === "tier-up") page.choose({ tier: Math.min(4, page.chosen.tier + 1) });
  else if (action === "tier-down") page.choose({ tier: Math.max(1, page.chosen.tier - 1) });
  else if (action === "help") showHelp(page);
  else if (!page.shown?.act?.(action, event)) return;
  event.preventDefault();
}

async function start() {
  const known = await token();
  if (!known) {
    fill(byId("view"), el("h1", { text: "No session" }), el("p", {}, "Run ", el("code", { text: "slop ui" }), " in the project: it opens this page with a ticket, which works once."));
    return;
  }
  const page = new Page(connect(known));
  fill(byId("views"), ...VIEWS.map((view) => el("a", { id: `to-${view.id}`, href: `#${view.id}`, text: view.title })));
  showChoice(page);
  document.addEventListener("keydown", (event) => onKey(page, event));
  addEventListener("hashchange", () => showView(page));
  showView(page);
  try {
    const status = await page.api.get("/v1/status");
    byId("project").textContent = status.project;
  } catch (error) {
    page.fail(error);
  }
  listen(page);
  await page.reload();
}

start();
