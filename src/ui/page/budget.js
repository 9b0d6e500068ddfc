// The budget view: where the tokens go, as a treemap and as a list.

import { cell, el, fill, options, sign } from "./dom.js";
import { count, plural, spaced, visible } from "./format.js";
import { Rows } from "./rows.js";
import { spending } from "./spending.js";

const COLORS = ["view", "state", "language", "rule"];
/** The steps of the color scale. */
const RAMP = ["full", "skeleton", "outline", "summary", "path"];
/** Steps of the color scale for views without their own. */
const STEPS = { names: "path", excerpt: "summary", masked: "skeleton", custom: "skeleton", ast_definitions: "skeleton" };
/** The columns of the list: key and title. */
const COLUMNS = [["name", "file or folder"], ["tokens", "tokens"], ["share", "share"], ["view", "shown as"], ["wanted", "would be"], ["why", "why"]];

/** The only Trusted Types policy: it allows the worker's URL, and nothing else. */
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

/** Returns how bright a color of the form `rgb(1, 2, 3)` is. */
function brightness(color) {
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

let address;

export class BudgetView {
  static id = "budget";
  static title = "Budget";

  constructor(page) {
    this.page = page;
    this.zoom = "";
    this.cells = [];
    address ??= workerAddress();
    this.worker = new Worker(address, { type: "module" });
    this.worker.onmessage = ({ data: { cells } }) => {
      this.cells = cells;
      this.paint();
    };
    const heard = { onclick: (event) => this.click(event), onpointermove: (event) => this.point(event) };
    this.canvas = el("canvas#map", { role: "img", "aria-label": "Map of the tokens: the list has the same figures", ...heard });
    this.tip = el("p#tip.faint", "A click opens a file, and goes into a folder.");
    this.meter = el("p.meter");
    this.colors = el("select#map-colors", { onchange: () => this.paint() }, ...options(COLORS));
    this.opened = new Set();
    this.order = { key: "tokens", isAscending: false };
    this.heads = COLUMNS.map(([key, name]) => el("span", { role: "columnheader", class: key }, el(`button#sort-${key}.link`, { onclick: () => this.sort(key) }, name)));
    this.list = new Rows({ label: "Tokens by folder and file", role: "treegrid", heads: this.heads, render: (index) => this.row(index), onclick: (event) => this.clickRow(event), ondblclick: () => this.act("open") });
    this.up = el("button#zoom-out", { title: "Backspace", onclick: () => this.zoomTo(this.zoom.split("/").slice(0, -1).join("/")) }, "up");
    this.element = el(
      "div.paper",
      el("div.bar", this.meter, el("label", "color by ", this.colors), this.up),
      el("div.split", el("div.mapped", this.canvas, this.tip), this.list.element),
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

  /** Shows the folders and files in the zoomed folder, and keeps the current row. */
  showList(table) {
    const current = this.spent?.[this.list.current]?.path;
    this.spent = spending(table, { zoom: this.zoom, opened: this.opened, ...this.order });
    for (const [at, [key]] of COLUMNS.entries()) {
      const isKey = this.order.key === key || (key === "share" && this.order.key === "tokens");
      this.heads[at].setAttribute("aria-sort", isKey ? (this.order.isAscending ? "ascending" : "descending") : "none");
    }
    this.list.current = Math.max(0, this.spent.findIndex(({ path }) => path === current));
    this.list.show(this.spent.length);
    this.up.disabled = !this.zoom;
  }

  row(index) {
    const { name, path, row, depth, tokens } = this.spent[index];
    const { columns, total } = this.page.table;
    const isFolder = row < 0;
    const get = (column) => (isFolder ? "" : spaced(columns[column][row]));
    const isOpen = this.opened.has(path);
    const label = cell("", { title: visible(path) }, sign("i.fold", isFolder ? (isOpen ? "▾" : "▸") : ""), visible(name));
    label.style.paddingLeft = `${Math.min(depth, 12) * 16}px`;
    return el(
      isFolder ? "div.folder" : "div.file",
      { role: "row", "aria-level": depth + 1, "aria-expanded": isFolder ? String(isOpen) : null },
      label,
      cell(".number", count(tokens)),
      cell(".number", `${Math.round((100 * tokens) / Math.max(1, total.tokens))} %`),
      cell("", !isFolder && sign(`i.step.${columns.view[row]}`), get("view")),
      cell("", get("wanted")),
      cell(".faint", isFolder ? "" : columns.why[row] || get("rule")),
    );
  }

  sort(key) {
    const sorted = key === "share" ? "tokens" : key;
    const isSame = this.order.key === sorted;
    // Numbers are sorted in descending order first, texts in ascending order.
    this.order = { key: sorted, isAscending: isSame ? !this.order.isAscending : sorted !== "tokens" };
    this.showList(this.page.table);
  }

  clickRow(event) {
    const index = this.list.indexOf(event);
    if (index < 0) return;
    this.list.move(index);
    if (event.target.closest(".fold")) this.fold(!this.opened.has(this.spent[index].path));
  }

  /** Folds or unfolds the current folder; if there is nothing to fold, moves to the parent. */
  fold(isOpen) {
    const now = this.spent[this.list.current];
    if (!now) return;
    if (now.row < 0 && this.opened.has(now.path) !== isOpen) {
      this.opened[isOpen ? "add" : "delete"](now.path);
      this.showList(this.page.table);
    } else if (!isOpen) this.list.move(this.spent.slice(0, this.list.current).findLastIndex(({ depth }) => depth < now.depth));
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
    // A canvas supports neither CSS variables nor `light-dark()`, so the color is computed by an element.
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
      const step = cell.isFolder ? "sheet" : this.stepOf(cell);
      context.fillStyle = color(step);
      context.fillRect(cell.x, cell.y, cell.width, cell.height);
      context.strokeStyle = rule;
      context.strokeRect(cell.x + 0.5, cell.y + 0.5, cell.width, cell.height);
      const isLabeled = cell.depth > 0 && 60 < cell.width && (cell.isFolder ? 34 : 16) < cell.height;
      if (!isLabeled) continue;
      const ground = brightness(color(step));
      context.fillStyle = Math.abs(brightness(ink) - ground) < Math.abs(brightness(sheet) - ground) ? sheet : ink;
      context.save();
      context.beginPath();
      context.rect(cell.x, cell.y, cell.width - 4, cell.height);
      context.clip();
      context.fillText(visible(cell.name) + (cell.isFolder ? "/" : ""), cell.x + 4, cell.y + 12);
      context.restore();
    }
    probe.remove();
  }

  /** Returns the step of the color scale for a cell. */
  stepOf(cell) {
    if (cell.row < 0) return "path";
    const value = this.page.table.columns[this.colors.value][cell.row];
    if (this.colors.value === "view") return STEPS[value] ?? (RAMP.includes(value) ? value : "outline");
    const hash = [...value].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) >>> 0, 7);
    return RAMP[hash % RAMP.length];
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
    if (0 <= cell.row) this.page.inspect(cell.path);
    else this.zoomTo(cell.path === this.zoom ? "" : cell.path);
  }

  zoomTo(path) {
    this.zoom = path;
    this.page.say(path ? `now ${path}` : "now the whole project");
    this.refresh();
  }

  act(action) {
    const { list } = this;
    const now = this.spent?.[list.current];
    const actions = {
      fold: () => this.fold(false),
      unfold: () => this.fold(true),
      open: () => now && (now.row < 0 ? this.zoomTo(now.path) : this.page.inspect(now.path)),
      out: () => this.zoom && this.up.click(),
      escape: () => this.zoom && this.up.click(),
      colors: () => this.nextColors(),
    };
    if (list.act(action)) return true;
    actions[action]?.();
    return action in actions;
  }

  nextColors() {
    this.colors.value = COLORS[(COLORS.indexOf(this.colors.value) + 1) % COLORS.length];
    this.page.say(`color by ${this.colors.value}`);
    this.paint();
  }

  unmount() {
    this.worker.terminate();
    this.resized.disconnect();
  }
}
