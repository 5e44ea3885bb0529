// The loss scale's slider: a native range input whose track is the axis of the window chart.
//
// Its track is as long as k = -40..40 is on that axis, and is cut where the axis ends; so the
// thumb is at its scale for every k, and the keyboard reaches those beyond the axis.

import { change, html } from "./dom.js";

export const FIRST = -40;
export const LAST = 40;

export class Slider {
  constructor(store) {
    this.input = html("input", {
      type: "range", class: "scale-slider", min: FIRST, max: LAST, step: 1, "aria-label": store.words.say("sliderName"),
      oninput: () => store.act({ k: Math.round(this.input.valueAsNumber), scale: null }, "drag"),
      onkeydown: (event) => this.key(event, store),
      onpointerdown: () => { this.held = true; },
      onpointerup: () => { this.held = false; store.rest(); },
      onpointercancel: () => { this.held = false; store.rest(); },
      onchange: () => { if (!this.held) store.restSoon(); },
    });
    this.track = html("div", { class: "scale-track", "aria-hidden": "true" });
    this.clip = html("div", { class: "slider-clip" }, this.track, this.input);
  }

  // Page keys go 4 octaves; from a typed scale the arrows go to the next whole octave.
  key(event, store) {
    const { state } = store;
    const here = state.scale ? state.scale.log2 : state.k;
    const up = state.scale ? Math.floor(here) + 1 : here + 1;
    const down = state.scale ? Math.ceil(here) - 1 : here - 1;
    const goals = {
      ArrowRight: up, ArrowUp: up, ArrowLeft: down, ArrowDown: down,
      PageUp: Math.round(here) + 4, PageDown: Math.round(here) - 4, Home: FIRST, End: LAST,
    };
    if (!(event.key in goals) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    store.act({ k: Math.max(FIRST, Math.min(LAST, goals[event.key])), scale: null }, "drag");
    store.restSoon();
  }

  // A thumb that is taller than its place sticks out of it on both sides.
  place(axis, top, height) {
    const thumb = parseFloat(getComputedStyle(this.clip).getPropertyValue("--thumb"));
    const tall = Math.max(height, thumb), above = top - (tall - height) / 2;
    change(this.clip, { style: `left:${axis.left - thumb}px;width:${axis.right - axis.left + 2 * thumb}px;top:${above}px;height:${tall}px` });
    const start = axis.x(FIRST) - axis.left + thumb;
    change(this.input, { style: `left:${start - thumb / 2}px;width:${(LAST - FIRST) * axis.octave + thumb}px` });
    this.track.style.left = `${thumb}px`;
    this.track.style.right = `${thumb}px`;
  }

  show(state, spokenValue) {
    // A typed scale sits between the notches.
    this.input.step = state.scale ? "any" : "1";
    this.input.value = state.scale ? state.scale.log2 : state.k;
    change(this.input, { "aria-valuetext": spokenValue });
  }
}
