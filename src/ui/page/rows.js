// A virtual list: only visible rows are in the page.

import { el, pointTo } from "./dom.js";

/** The height of a row, as in slop.css. */
const ROW_PX = 26;
/** The number of rows drawn above and below the visible ones. */
const SPARE = 8;
/** The maximum layout height of browsers; longer lists scroll in larger steps. */
const MAX_PIXELS = 8_000_000;
let lists = 0;

export class Rows {
  /**
   * @param {{label: string, height?: number, render: (content: any) => HTMLElement, content?: (index: number) => any,
   *   role?: "grid"|"treegrid"|"list"|"listbox", heads?: HTMLElement[]}} options `render` gives a row its role; it gets what
   *   `content` returns, and the row stays in the page as long as that is the same; other options are listeners and attributes
   */
  constructor({ label, height = ROW_PX, render, content, role = "grid", heads, ...props }) {
    this.content = content;
    this.height = height;
    this.render = render;
    this.role = role;
    this.isGrid = role.endsWith("grid");
    this.count = 0;
    /** The current row, or -1. */
    this.current = -1;
    this.id = `rows-${(lists += 1)}`;
    /** @type {Map<number, HTMLElement>} */
    this.drawn = new Map();
    this.head = heads && el("div.head", { role: "row", "aria-rowindex": "1" }, ...heads);
    this.space = el("div.space", { role: this.isGrid ? "rowgroup" : "presentation" });
    this.element = el("div.rows", { role, "aria-label": label, ...(role !== "list" && { tabindex: "0", "aria-multiselectable": "true" }), onscroll: () => this.schedule(), ...props }, this.head, this.space);
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** Sets the number of rows, and keeps the scroll position. @param {number} count */
  show(count) {
    this.count = count;
    this.current = Math.min(this.current, count - 1);
    this.space.style.height = `${Math.min(count * this.height, MAX_PIXELS)}px`;
    if (this.isGrid) this.element.setAttribute("aria-rowcount", String(count + (this.head ? 1 : 0)));
    this.draw();
  }

  /** Draws newly visible rows at the next frame. */
  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw(false);
    });
  }

  /** Returns the height of the visible area for rows. */
  get sight() {
    return this.element.clientHeight - (this.head?.offsetHeight ?? 0);
  }

  /** Returns the first visible row. */
  get first() {
    const { scrollTop } = this.element;
    const real = this.count * this.height;
    if (real <= MAX_PIXELS) return Math.floor(scrollTop / this.height);
    const part = scrollTop / Math.max(1, MAX_PIXELS - this.sight);
    return Math.floor((part * (real - this.sight)) / this.height);
  }

  get inSight() {
    return Math.max(1, Math.ceil(this.sight / this.height));
  }

  /** Returns whether a row is visible. @param {number} index */
  isInSight(index) {
    return this.first < index && index < this.first + this.inSight - 1;
  }

  /** Draws the visible rows. @param {boolean} [all] false: rows that are already drawn are up to date */
  draw(all = true) {
    const first = this.first;
    const from = Math.max(0, first - SPARE);
    const to = Math.min(this.count, first + this.inSight + SPARE);
    const isScaled = MAX_PIXELS < this.count * this.height;
    const origin = isScaled ? this.element.scrollTop - first * this.height : 0;
    for (const [index, row] of this.drawn) {
      const isSame = () => !all || (this.content && row.content === JSON.stringify(this.content(index)));
      if (from <= index && index < to && isSame()) continue;
      row.remove();
      this.drawn.delete(index);
    }
    let after = null;
    for (let index = to - 1; index >= from; index -= 1) {
      let row = this.drawn.get(index);
      if (!row) {
        row = this.make(index);
        this.space.insertBefore(row, after);
      }
      row.style.top = `${origin + index * this.height}px`;
      after = row;
    }
    this.mark();
  }

  make(index) {
    const content = this.content ? this.content(index) : index;
    const row = this.render(content);
    row.content = JSON.stringify(content);
    row.id = `${this.id}-${index}`;
    row.dataset.row = String(index);
    if (this.isGrid) row.setAttribute("aria-rowindex", String(index + (this.head ? 2 : 1)));
    else {
      row.setAttribute("aria-setsize", String(this.count));
      row.setAttribute("aria-posinset", String(index + 1));
    }
    this.drawn.set(index, row);
    return row;
  }

  /** Marks the current row. */
  mark() {
    if (this.role === "list") return;
    for (const [index, row] of this.drawn) row.classList.toggle("current", index === this.current);
    pointTo(this.element, this.drawn.get(this.current)?.id);
  }

  /** Makes a row the current one, and scrolls to it. @param {number} index */
  move(index) {
    if (!this.count) return;
    this.current = Math.max(0, Math.min(index, this.count - 1));
    const first = this.first;
    const whole = Math.max(1, Math.floor(this.sight / this.height));
    if (this.current < first || (this.current === first && this.element.scrollTop % this.height)) this.scrollTo(this.current);
    else if (first + whole <= this.current) this.scrollTo(this.current - whole + 1);
    this.draw(false);
  }

  /** Performs the action of a movement key; returns whether it is one. @param {string} action @param {(index: number) => void} [move] */
  act(action, move = (index) => this.move(index)) {
    const page = Math.max(1, this.inSight - 1);
    const to = { down: this.current + 1, up: this.current - 1, "page-down": this.current + page, "page-up": this.current - page, first: 0, last: this.count - 1 }[action];
    if (to !== undefined) move(Math.max(0, to));
    return to !== undefined;
  }

  /** Scrolls until a row is the first visible one. @param {number} index */
  scrollTo(index) {
    const real = this.count * this.height;
    const top = Math.max(0, index * this.height);
    this.element.scrollTop = real <= MAX_PIXELS ? top : (top / (real - this.sight)) * (MAX_PIXELS - this.sight);
  }

  /** Returns the row of an event's target, or -1. @param {Event} event */
  indexOf(event) {
    const row = /** @type {HTMLElement} */ (event.target).closest("[data-row]");
    return row ? Number(row.dataset.row) : -1;
  }
}
