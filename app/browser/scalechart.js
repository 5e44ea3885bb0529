// What the charts over the axis of scales have in common: the slider is that axis, with the scale's line and
// bubble, and a caption under the window it tells of.

import { change, html, svg, write } from "./dom.js";
import { Slider } from "./slider.js";
import { power, scaleEquation } from "./words.js";

// Room for half of the line and its halo, in pixels at 16 px text.
const LINE = 4;

export class ScaleChart {
  constructor(store, name, ...parts) {
    this.store = store;
    this.slider = new Slider(store);
    this.bubble = html("div", { class: "bubble", "aria-hidden": "true" });
    this.caption = html("div", { class: "window-caption" });
    this.picture = svg("svg", { "aria-hidden": "true", class: "picture" });
    this.element = html("div", { class: `chart ${name}` }, this.picture, ...parts, this.caption, this.slider.clip, this.bubble);
  }

  size(width, height) {
    change(this.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.element.style.height = `${height}px`;
  }

  fillCaption(texts, hasWindow) {
    this.caption.replaceChildren(...texts);
    change(this.caption, { class: `window-caption ${hasWindow ? "has-window" : "no-window"}` });
  }

  // Above `floor`, in the middle between two scales.
  placeCaption([from, to], floor, unit) {
    const middle = (this.axis.x(this.axis.clamp(from)) + this.axis.x(this.axis.clamp(to))) / 2;
    const half = this.caption.offsetWidth / 2;
    const left = Math.max(4 * unit, Math.min(middle - half, this.element.clientWidth - 2 * half - 4 * unit)), top = floor - this.caption.offsetHeight;
    this.caption.style.left = `${left}px`;
    this.caption.style.top = `${top}px`;
    this.stop = { from: left - LINE * unit, to: left + 2 * half + LINE * unit, top: half ? top : Infinity };
    this.lowest = Number(this.line.getAttribute("y2"));
  }

  // The stretch of the slider's track between two scales; none where they are the same.
  markSafe([from, to]) {
    const left = this.axis.x(this.axis.clamp(from)), right = this.axis.x(this.axis.clamp(to));
    this.slider.track.style.setProperty("--safe-left", `${left - this.axis.left}px`);
    this.slider.track.style.setProperty("--safe-width", `${right - left}px`);
  }

  // Where the line and the bubble of a state's scale are; returns the line's place.
  showScale(state) {
    const { lookups, words } = this.store;
    const here = state.scale ? state.scale.log2 : state.k, x = this.axis.x(this.axis.clamp(here));
    const before = here < this.axis.from ? "◂ " : "", after = here > this.axis.to ? " ▸" : "";
    write(this.bubble, before + scaleEquation(state, lookups, words) + after);
    if (!state.scale && this.bubble.offsetWidth > this.element.clientWidth) write(this.bubble, `S = ${power(state.k)}`);
    const half = this.bubble.offsetWidth / 2;
    this.bubble.style.left = `${Math.max(half, Math.min(this.element.clientWidth - half, x)) - half}px`;
    // It does not run through the caption.
    const { from, to, top } = this.stop;
    change(this.line, { x1: x, x2: x, y2: from < x && x < to ? Math.min(top, this.lowest) : this.lowest, "data-log2": here });
    return x;
  }
}
