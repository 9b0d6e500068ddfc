// The page: its top bar, which view is shown, and what all views share.

import { showChoice, showHistoryButtons } from "./bar.js";
import { BudgetView } from "./budget.js";
import { CacheView } from "./cache.js";
import { DaemonView } from "./daemon.js";
import { byId, el, fill } from "./dom.js";
import { DocumentView } from "./document.js";
import { token } from "./door.js";
import { FilesView } from "./files.js";
import { showHelp } from "./help.js";
import { actionOf } from "./keys.js";
import { openPalette } from "./palette.js";
import { Page } from "./page.js";
import { TakesView } from "./takes.js";

const VIEWS = [FilesView, DocumentView, BudgetView, CacheView, TakesView, DaemonView];
/** The pause before the table is requested again. It doubles while changes keep coming, */
const REFRESH_MS = 250;
/** up to this. */
const LONGEST_PAUSE_MS = 2000;

function showView(page) {
  if (page.address === location.hash) return;
  page.address = location.hash;
  const [name, ...rest] = location.hash.slice(1).split("/");
  const View = VIEWS.find(({ id }) => id === name) ?? FilesView;
  for (const link of byId("views").children) {
    if (link.id === `to-${View.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const route = decodeURIComponent(rest.join("/"));
  if (page.view === View) return page.shown.show(route);
  page.shown?.unmount();
  page.view = View;
  document.title = `${View.title} – slop`;
  const pane = byId("view");
  pane.className = View.id;
  page.shown = page.kept.get(View) ?? new View(page);
  if (View.isKept) page.kept.set(View, page.shown);
  fill(pane, page.shown.element);
  page.shown.show(route);
}

function listen(page) {
  let isFollowing = false;
  let kinds = new Set();
  const follow = async () => {
    isFollowing = true;
    // The first change is requested at once; later ones are merged into one more request at the end.
    for (let pause = REFRESH_MS; kinds.size; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const seen = kinds;
      kinds = new Set();
      await page.reload(seen);
      await new Promise((resume) => setTimeout(resume, pause));
    }
    isFollowing = false;
  };
  const heard = ({ kind, data }) => {
    kinds.add(kind);
    if (kind !== "changed" || data.changes.some(({ path }) => path.startsWith("slop."))) kinds.add("curation");
    if (!isFollowing) follow();
  };
  const state = async (isConnected) => {
    const wasConnected = page.isConnected;
    page.isConnected = isConnected;
    page.showState();
    if (isConnected === wasConnected) return;
    showHistoryButtons(page);
    if (!isConnected) return page.shown?.refresh(new Set());
    const status = await page.api.get("/v1/status").catch(() => null);
    // The daemon may have been restarted, and events may have been missed.
    if (status && page.version !== status.version) return location.reload();
    heard({ kind: "fresh_instance" });
  };
  page.api.events(heard, state).then(() => page.fail({ status: 401 }));
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
  else if (action === "tier-up") page.choose({ tier: Math.min(4, (page.tier ?? 0) + 1) });
  else if (action === "tier-down") page.choose({ tier: Math.max(1, (page.tier ?? 5) - 1) });
  else if (action === "help") showHelp(page);
  else if (!page.shown?.act?.(action, event)) return;
  event.preventDefault();
}

async function start() {
  byId("choice").addEventListener("submit", (event) => event.preventDefault());
  const known = await token();
  if (!known) {
    fill(byId("view"), el("div.sheet", el("h1", "This page has no session"), el("p", "Run ", el("code", "slop ui"), " in the project: it opens this page with a ticket, which works once.")));
    document.body.classList.add("outside");
    return;
  }
  const page = new Page(known, () => showView(page));
  fill(byId("views"), ...VIEWS.map((view) => el(`a#to-${view.id}`, { href: `#${view.id}` }, view.title)));
  showChoice(page);
  document.addEventListener("keydown", (event) => onKey(page, event));
  addEventListener("hashchange", page.showView);
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
