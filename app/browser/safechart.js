// In how many of a run's steps each scale is in the window; its axis is the slider of the static scale.

import { Axis } from "./axis.js";
import { html, svg } from "./dom.js";
import { ScaleChart } from "./scalechart.js";
import { FIRST, LAST } from "./slider.js";
import { power } from "./words.js";

const MARGIN = 4, TOP = 92;

// What the chart takes in the layouts of an embedded page, in pixels at 16 px text.
const ROOM = { roomy: { tall: 76, axisRoom: 48 }, compact: { tall: 60, axisRoom: 28 }, dense: { tall: 44, axisRoom: 28 }, strip: { tall: 0, axisRoom: 0 } };

export class SafeChart extends ScaleChart {
  constructor(store) {
    super(store, "safe-chart");
  }

  draw({ width, unit, layout }, run) {
    const { words } = this.store;
    const { tall, axisRoom } = ROOM[layout] ?? ROOM.roomy, strip = tall === 0;
    const safe = run?.end?.safe ?? [], of = run?.end?.steps ?? 0, held = safe.flatMap((count, index) => (count ? [FIRST + index] : []));
    const most = safe.reduce((best, count) => Math.max(best, count), 0), best = safe.flatMap((count, index) => (count && count === most ? [FIRST + index] : []));
    this.axis = new Axis(...stretch(held), (strip ? 24 : 60) * unit, width - (strip ? 24 : 44) * unit);
    this.fillCaption(this.captionText(best, most, of), most > 0);
    const top = TOP * unit, floor = top + tall * unit, bottom = strip ? (TOP - 8) * unit : floor + this.caption.offsetHeight + 10 * unit;
    this.size(width, bottom + axisRoom * unit);
    this.slider.place(this.axis, 44 * unit, 36 * unit);
    this.line = svg("line", { class: "scale-line", y1: 62 * unit, y2: strip ? 62 * unit : bottom });
    const bars = strip ? [] : safe.flatMap((count, index) => this.bar(count / Math.max(1, of), FIRST + index, top, floor));
    this.picture.replaceChildren(...bars, ...(strip ? [] : [...this.shares(top, floor, unit), axisRoom ? this.axis.draw(bottom, unit, axisRoom > 40 ? words.say("staticAxis") : "") : "", this.line]));
    this.markSafe(best.length ? [best[0] - 0.5, best.at(-1) + 0.5] : [0, 0]);
    this.placeCaption(best.length ? [best[0], best.at(-1)] : [this.axis.from, this.axis.to], bottom - 4 * unit, unit);
  }

  bar(share, k, top, floor) {
    if (!share || k < this.axis.from || k > this.axis.to) return [];
    const x = this.axis.x(k - 0.5);
    return [svg("rect", { class: share === 1 ? "segment normal" : "segment partly", x: x + 0.08 * this.axis.octave, width: 0.84 * this.axis.octave, y: floor - share * (floor - top), height: share * (floor - top) })];
  }

  shares(top, floor, unit) {
    return [0, 1].flatMap((share) => {
      const y = floor - share * (floor - top);
      return [svg("line", { class: "share-line", x1: this.axis.left, x2: this.axis.right, y1: y, y2: y }),
        svg("text", { class: "share", x: this.axis.left - 8 * unit, y: y + 5 * unit, "text-anchor": "end" }, this.store.words.percent(100 * share))];
    });
  }

  captionText(best, most, of) {
    const { words } = this.store;
    if (!of) return [html("span", {}, words.say("safeUnknown"))];
    if (!most) return [html("strong", {}, words.say("safeNone"))];
    const values = { n: most, count: words.number(most), of: words.number(of), first: power(best[0]), last: power(best.at(-1)) };
    return [html("strong", {}, best.length > 1 ? words.say("safeBest", values) : words.say("safeBestOne", values))];
  }

  show() {
    this.showScale({ ...this.store.state, scale: null });
  }
}

function stretch(held) {
  const places = [...(held.length ? held : [-4, 36]), 0];
  return [Math.max(FIRST - 0.5, Math.min(...places) - MARGIN), Math.min(LAST + 0.5, Math.max(...places) + MARGIN)];
}
