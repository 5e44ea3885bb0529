// What the charts over the axis of scales have in common: the slider is that axis, with the scale's line and
// bubble, and a caption under the window it tells of.

import { change, html, svg, write } from "./dom.js";
import { Slider } from "./slider.js";
import { power, scaleEquation } from "./words.js";

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
    this.caption.style.left = `${Math.max(4 * unit, Math.min(middle - half, this.element.clientWidth - 2 * half - 4 * unit))}px`;
    this.caption.style.top = `${floor - this.caption.offsetHeight}px`;
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
    change(this.line, { x1: x, x2: x, "data-log2": here });
    return x;
  }
}
