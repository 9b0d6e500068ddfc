// The page: its top bar, which view is shown, and what all views share.

import { connect } from "./api.js";
import { showChoice, showHistoryButtons, showLive } from "./bar.js";
import { budget } from "./budget.js";
import { cache } from "./cache.js";
import { daemon } from "./daemon.js";
import { byId, el, fill } from "./dom.js";
import { document_ } from "./document.js";
import { forget, token } from "./door.js";
import { files } from "./files.js";
import { showHelp } from "./help.js";
import { history as past } from "./history.js";
import { actionOf } from "./keys.js";
import { openPalette } from "./palette.js";
import { Pick } from "./pick.js";
import { apply, decode } from "./table.js";

const VIEWS = [files, document_, budget, cache, past, daemon];
/** At most so often the table is asked for again while files change. */
const REFRESH_MS = 250;
/** At most so often something is said to those who do not see the page. */
const SAID_MS = 1000;

/** What views share: the API, the table, the selection, the choice and what is curated. */
class Page {
  constructor(token) {
    this.api = connect(token, (answer) => this.answered(answer));
    this.isConnected = true;
    this.partial = null;
    this.asOf = Date.now();
    /** What the view of files keeps while another one is shown. */
    this.folded = new Set();
    this.filterText = "";
    this.pick = new Pick();
    /** @type {import("./table.js").Table|null} */
    this.table = null;
    this.curation = null;
    this.writes = 0;
    this.changedAt = new Map();
    this.letters = localStorage.getItem("letters") !== "off";
    this.chosen = { tier: 3, ...JSON.parse(sessionStorage.getItem("choice") ?? "{}") };
    this.lastSaid = 0;
  }

  /** Returns what the document is made for, as the API takes it. */
  choice() {
    const { tier, budget: limit, focus, task, persona, preset } = this.chosen;
    const choice = { tier };
    if (persona) choice.persona = persona;
    if (preset) choice.preset = preset;
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

  /** Notes whether an answer was about all files as they are. */
  answered({ command, freshness, reason }) {
    if (command !== "table") return;
    this.asOf = Date.now();
    this.partial = freshness && freshness !== "fresh" ? (reason ?? freshness) : null;
    this.showState();
  }

  showState() {
    showLive({ isConnected: this.isConnected, since: this.asOf, partial: this.partial });
  }

  /** Asks for the table: all of it, or what has changed since the one that is here. */
  async loadTable(isWhole = false) {
    const since = isWhole ? null : (this.table?.clock ?? null);
    const answer = await this.api.post("/v1/table", { choice: this.choice(), since });
    const now = Date.now();
    if (answer.rows && answer.since !== this.table?.clock) return this.loadTable(true);
    if (answer.rows) {
      const { changed } = apply(this.table, answer);
      for (const row of changed ?? []) this.changedAt.set(this.table.paths[row], now);
    } else {
      this.table = decode(answer);
      this.pick.retain(this.table);
    }
    return this.table;
  }

  async loadCuration() {
    const [before, writes] = [this.curation, this.writes];
    const curation = await this.api.get("/v1/curation");
    // It was edited meanwhile: what came is older than the revision that the next edit has to name.
    if (writes !== this.writes) return this.loadCuration();
    this.curation = curation;
    showHistoryButtons(this);
    if (before?.revision !== this.curation.revision) showChoice(this);
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

  /** Writes one edit after the other: each names the revision that the one before has made. */
  write(work) {
    this.writing = (this.writing ?? Promise.resolve()).then(() => this.writeNow(work));
    return this.writing;
  }

  async writeNow(work) {
    try {
      const { revision } = this.curation ?? (await this.loadCuration());
      const done = await work(revision);
      this.writes += 1;
      this.curation.revision = done.revision;
      this.reload();
      return done;
    } catch (error) {
      if (error.code === "revision_moved") {
        await this.reload();
        this.fail({ message: "slop.toml was edited elsewhere; nothing was overwritten.", hint: "The page shows the new state: make the edit again if it is still wanted." });
      } else this.fail(error);
      return null;
    }
  }

  /** Gets everything again that may have changed. */
  async reload(changes = new Set(["changed", "curation"])) {
    try {
      await Promise.all([this.loadTable(), this.loadCuration()]);
      if (this.isStale) this.fail(null);
      this.isStale = false;
    } catch (error) {
      this.isStale = true;
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
    const again = error.status === 0 || !this.table;
    fill(
      banner,
      el("span", { text: error.message }),
      error.hint ? el("span", { class: "hint", text: error.hint }) : "",
      again ? el("button", { text: "Try again", onclick: () => this.reload() }) : el("button", { text: "Close", onclick: () => this.fail(null) }),
    );
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

function listen(page) {
  let waiting = null;
  const kinds = new Set();
  const heard = ({ kind }) => {
    kinds.add(kind);
    waiting ??= setTimeout(async () => {
      const seen = new Set(kinds);
      kinds.clear();
      await page.reload(seen);
      waiting = null;
      // What came meanwhile is one more question at the end.
      if (kinds.size) heard({ kind: [...kinds][0] });
    }, REFRESH_MS);
  };
  page.api.events(heard, async (isConnected) => {
    const wasConnected = page.isConnected;
    page.isConnected = isConnected;
    page.showState();
    if (isConnected === wasConnected) return;
    showHistoryButtons(page);
    const status = await page.api.get("/v1/status").catch((error) => void (error.status === 401 && page.fail(error)));
    if (!isConnected) return page.shown?.refresh(new Set());
    // The daemon may be another one, and events may have been missed meanwhile.
    if (status && page.version !== status.version) return location.reload();
    heard({ kind: "fresh_instance" });
  });
}

function onKey(page, event) {
  if (document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input:not([type=radio]):not([type=checkbox]), textarea, select");
  const action = actionOf(event, { typing, letters: page.letters });
  if (!action) return;
  if (action === "palette") {
    event.preventDefault();
    return openPalette(page, VIEWS);
  }
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
  byId("choice").addEventListener("submit", (event) => event.preventDefault());
  const known = await token();
  if (!known) {
    fill(byId("view"), el("div", { class: "sheet" }, el("h1", { text: "This page has no session" }), el("p", {}, "Run ", el("code", { text: "slop ui" }), " in the project: it opens this page with a ticket, which works once.")));
    document.body.classList.add("outside");
    return;
  }
  const page = new Page(known);
  fill(byId("views"), ...VIEWS.map((view) => el("a", { id: `to-${view.id}`, href: `#${view.id}`, text: view.title })));
  showChoice(page);
  document.addEventListener("keydown", (event) => onKey(page, event));
  addEventListener("hashchange", () => showView(page));
  byId("help").addEventListener("click", () => showHelp(page));
  byId("go-to").addEventListener("click", () => openPalette(page, VIEWS));
  showView(page);
  try {
    const status = await page.api.get("/v1/status");
    byId("project").textContent = status.project;
    byId("project").title = status.root;
    page.version = status.version;
  } catch (error) {
    page.fail(error);
  }
  listen(page);
  await page.reload();
}

start();
