// The view of the budget: where the tokens go, as a map and as a list.

import { el, fill } from "./dom.js";
import { count, plural, visible } from "./format.js";

const COLORS = ["view", "state", "language", "rule"];
/** Steps of the ramp for views that have none of their own. */
const STEPS = { names: "path", excerpt: "summary", masked: "skeleton", custom: "skeleton", ast_definitions: "skeleton" };
/** Rows of the list. */
const LISTED = 200;

export const budget = {
  id: "budget",
  title: "Budget",
  mount(pane, page) {
    const view = new BudgetView(page);
    pane.append(view.element);
    return view;
  },
};

/** The one Trusted Types policy: it allows the address of the worker, and nothing else. */
function workerAddress() {
  const address = new URL("./map.js", import.meta.url).href;
  const policy = globalThis.trustedTypes?.createPolicy("worker", {
    createScriptURL(text) {
      if (text !== address) throw new TypeError("not the page's worker");
      return text;
    },
  });
  return policy ? policy.createScriptURL(address) : address;
}

let address;

class BudgetView {
  constructor(page) {
    this.page = page;
    this.zoom = "";
    this.cells = [];
    address ??= workerAddress();
    this.worker = new Worker(address, { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.drawn(data));
    this.canvas = el("canvas", { id: "map", role: "img", "aria-label": "Map of the tokens: the list has the same figures" });
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.tip = el("p", { id: "tip", class: "faint" });
    this.meter = el("p", { class: "meter" });
    this.colors = el("select", { id: "map-colors", onchange: () => this.paint() }, ...COLORS.map((name) => el("option", { value: name, text: name })));
    this.list = el("div", { class: "list" });
    this.up = el("button", { id: "zoom-out", text: "up", onclick: () => this.zoomTo(this.zoom.split("/").slice(0, -1).join("/")) });
    this.element = el(
      "div",
      { class: "paper" },
      el("div", { class: "bar" }, this.meter, el("label", {}, "color by ", this.colors), this.up),
      el("div", { class: "split" }, el("div", { class: "mapped" }, this.canvas, this.tip), this.list),
    );
    this.resized = new ResizeObserver(() => this.refresh());
    this.resized.observe(this.canvas.parentElement);
  }

  show() {
    this.refresh();
  }

  refresh() {
    const { table } = this.page;
    if (!table) return;
    const { clientWidth: width, clientHeight } = this.canvas.parentElement;
    const height = Math.max(120, clientHeight - 24);
    if (!width) return;
    this.size = { width, height };
    this.worker.postMessage({ paths: table.paths, values: table.columns.tokens, zoom: this.zoom, width, height });
    this.showMeter(table);
    this.showList(table);
  }

  showMeter(table) {
    const { tokens, budget_tokens: limit } = table.total;
    const { view, wanted } = table.columns;
    const stepped = view.filter((name, row) => name !== wanted[row] && name !== "left_out").length;
    const out = view.filter((name, row) => name === "left_out" && wanted[row] !== "left_out").length;
    const approx = table.exact ? "" : "about ";
    const of = limit ? ` of ${count(limit)}` : "";
    fill(this.meter, `${approx}${count(tokens)}${of} tokens`, stepped ? `, ${plural(stepped, "file")} stepped down` : "", out ? `, ${count(out)} left out` : "");
  }

  /** Shows folders and files below the one that is zoomed into, the largest first. */
  showList(table) {
    const sums = new Map();
    const prefix = this.zoom ? `${this.zoom}/` : "";
    table.paths.forEach((path, row) => {
      const tokens = table.columns.tokens[row];
      if (!tokens || !path.startsWith(prefix)) return;
      const rest = path.slice(prefix.length);
      const slash = rest.indexOf("/");
      const name = slash < 0 ? rest : rest.slice(0, slash + 1);
      const known = sums.get(name) ?? { tokens: 0, row: slash < 0 ? row : -1 };
      known.tokens += tokens;
      sums.set(name, known);
    });
    const total = Math.max(1, table.total.tokens);
    const rows = [...sums].sort(([, one], [, other]) => other.tokens - one.tokens).slice(0, LISTED);
    const get = (column, row) => (row < 0 ? "" : table.columns[column][row].replaceAll("_", " "));
    const body = rows.map(([name, { tokens, row }]) => {
      const path = prefix + name.replace(/\/$/, "");
      const open = () => (row < 0 ? this.zoomTo(path) : this.page.go(`files/${encodeURIComponent(path)}`));
      return el(
        "tr",
        {},
        el("td", {}, el("button", { class: "link", onclick: open, text: visible(name) })),
        el("td", { class: "number", text: count(tokens) }),
        el("td", { class: "number", text: `${Math.round((100 * tokens) / total)} %` }),
        el("td", { text: get("view", row) }),
        el("td", { text: get("wanted", row) }),
        el("td", { text: row < 0 ? "" : table.columns.why[row] || get("rule", row) }),
      );
    });
    const heads = ["file or folder", "tokens", "share", "shown as", "would be", "why"].map((head) => el("th", { scope: "col", text: head }));
    fill(this.list, el("table", { "aria-label": "Tokens by folder and file" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)));
  }

  drawn({ cells }) {
    this.cells = cells;
    this.paint();
  }

  paint() {
    const { width, height } = this.size;
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    const probe = document.body.appendChild(el("i"));
    const known = new Map();
    // A canvas does not know variables, and neither `light-dark()`: an element has the color that they result in.
    const color = (name) => {
      if (!known.has(name)) {
        probe.style.color = `var(--${name})`;
        known.set(name, getComputedStyle(probe).color);
      }
      return known.get(name);
    };
    context.scale(scale, scale);
    context.font = "12px ui-monospace, monospace";
    const [sheet, rule, ink] = ["sheet", "rule", "ink"].map(color);
    for (const cell of this.cells) {
      context.fillStyle = cell.isFolder ? sheet : this.colorOf(cell, color);
      context.fillRect(cell.x, cell.y, cell.width, cell.height);
      context.strokeStyle = rule;
      context.strokeRect(cell.x + 0.5, cell.y + 0.5, cell.width, cell.height);
      const isLabeled = cell.depth > 0 && 60 < cell.width && (cell.isFolder ? 34 : 16) < cell.height;
      if (!isLabeled) continue;
      const isDark = !cell.isFolder && ["full", "skeleton"].includes(this.page.table.columns.view[cell.row]) && this.colors.value === "view";
      context.fillStyle = isDark ? sheet : ink;
      context.save();
      context.beginPath();
      context.rect(cell.x, cell.y, cell.width - 4, cell.height);
      context.clip();
      context.fillText(visible(cell.name) + (cell.isFolder ? "/" : ""), cell.x + 4, cell.y + 12);
      context.restore();
    }
    probe.remove();
  }

  colorOf(cell, color) {
    if (cell.row < 0) return color("path");
    const value = this.page.table.columns[this.colors.value][cell.row];
    const steps = ["full", "skeleton", "outline", "summary", "path"];
    if (this.colors.value === "view") return color(STEPS[value] ?? (steps.includes(value) ? value : "outline"));
    const hash = [...value].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) >>> 0, 7);
    return color(steps[hash % steps.length]);
  }

  cellAt(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    return this.cells.findLast((cell) => cell.x <= x && x < cell.x + cell.width && cell.y <= y && y < cell.y + cell.height);
  }

  point(event) {
    const cell = this.cellAt(event);
    if (!cell) return;
    const { columns } = this.page.table;
    const details = cell.row < 0 ? "" : ` · ${columns.view[cell.row]} · ${columns.why[cell.row] || columns.rule[cell.row]}`;
    this.tip.textContent = `${visible(cell.path || "project")} · ${count(cell.value)} tokens${details}`;
  }

  click(event) {
    const cell = this.cellAt(event);
    if (!cell) return;
    if (0 <= cell.row) this.page.go(`files/${encodeURIComponent(cell.path)}`);
    else this.zoomTo(cell.path === this.zoom ? "" : cell.path);
  }

  zoomTo(path) {
    this.zoom = path;
    this.page.say(path ? `now ${path}` : "now the whole project");
    this.refresh();
  }

  act(action) {
    if (action !== "escape" || !this.zoom) return false;
    this.up.click();
    return true;
  }

  unmount() {
    this.worker.terminate();
    this.resized.disconnect();
  }
}
