// A grid of which only the rows in sight are in the page.

import { el, fill } from "./dom.js";

/** Rows above and below those in sight. */
const SPARE = 8;
/** Browsers cannot lay out more pixels than this; longer lists scroll in larger steps. */
const MAX_PIXELS = 8_000_000;

export class Rows {
  /**
   * @param {{label: string, height: number, render: (index: number) => HTMLElement, onmove?: (index: number) => void}} options
   */
  constructor({ label, height, render, onmove = () => {} }) {
    this.height = height;
    this.render = render;
    this.onmove = onmove;
    this.count = 0;
    /** The current row, or -1. */
    this.current = -1;
    this.space = el("div", { class: "space" });
    this.element = el("div", { class: "rows", role: "grid", tabindex: "0", "aria-label": label, "aria-multiselectable": "true" }, this.space);
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** Shows so many rows, and keeps the place. @param {number} count */
  show(count) {
    this.count = count;
    this.current = Math.min(this.current, count - 1);
    this.space.style.height = `${Math.min(count * this.height, MAX_PIXELS)}px`;
    this.element.setAttribute("aria-rowcount", String(count));
    this.draw();
  }

  /** Draws again at the next frame. */
  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Returns the first row in sight. */
  get first() {
    const { scrollTop, clientHeight } = this.element;
    const real = this.count * this.height;
    if (real <= MAX_PIXELS) return Math.floor(scrollTop / this.height);
    const part = scrollTop / Math.max(1, MAX_PIXELS - clientHeight);
    return Math.floor((part * (real - clientHeight)) / this.height);
  }

  get inSight() {
    return Math.ceil(this.element.clientHeight / this.height);
  }

  draw() {
    const first = this.first;
    const from = Math.max(0, first - SPARE);
    const to = Math.min(this.count, first + this.inSight + SPARE);
    const isScaled = MAX_PIXELS < this.count * this.height;
    const origin = isScaled ? this.element.scrollTop - first * this.height : 0;
    const rows = [];
    for (let index = from; index < to; index += 1) {
      const row = this.render(index);
      row.id = `row-${index}`;
      row.setAttribute("aria-rowindex", String(index + 1));
      row.style.top = `${origin + index * this.height}px`;
      row.classList.toggle("current", index === this.current);
      rows.push(row);
    }
    fill(this.space, ...rows);
    if (from <= this.current && this.current < to) this.element.setAttribute("aria-activedescendant", `row-${this.current}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Makes a row the current one, and scrolls to it. @param {number} index */
  move(index) {
    if (!this.count) return;
    this.current = Math.max(0, Math.min(index, this.count - 1));
    const first = this.first;
    if (this.current < first) this.scrollTo(this.current);
    else if (first + this.inSight - 1 <= this.current) this.scrollTo(this.current - this.inSight + 2);
    this.draw();
    this.onmove(this.current);
  }

  /** Scrolls until a row is the first in sight. @param {number} index */
  scrollTo(index) {
    const real = this.count * this.height;
    const top = Math.max(0, index * this.height);
    this.element.scrollTop = real <= MAX_PIXELS ? top : (top / (real - this.element.clientHeight)) * (MAX_PIXELS - this.element.clientHeight);
  }

  /** Returns the row that an event is about, or -1. @param {Event} event */
  indexOf(event) {
    const row = /** @type {HTMLElement} */ (event.target).closest("[aria-rowindex]");
    return row ? Number(row.getAttribute("aria-rowindex")) - 1 : -1;
  }
}
