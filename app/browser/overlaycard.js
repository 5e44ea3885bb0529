// Scalers over each other on one pattern of overflows: typed, or that of the dynamic run.

import { change, html, svg, write } from "./dom.js";
import { recordedMark } from "./recordedmark.js";
import { patternOf } from "./runs.js";
import { scalerName } from "./settingsform.js";
import { StepChart, spread } from "./stepchart.js";
import { power, pretty } from "./words.js";

const TALL = 200, PATTERN = "NFFFFFFNFFFFFFFFNNFFFFFFFFFFFFFF", MOST = 6;

// The lines of the chart are told apart by dashes as well as by colour.
class OverlayChart extends StepChart {
  draw(size, traces, pattern) {
    const { words } = this.store;
    const { unit, top, floor } = this.begin(size, pattern.length + 1, TALL, words.say("stepAxis"));
    const logs = traces.flatMap(({ scales }) => scales.map(([, log2]) => log2)).filter((log2) => log2 !== null);
    const low = Math.min(...logs) - 1, high = Math.max(...logs) + 1;
    this.y = (log2) => floor - ((log2 - low) / (high - low)) * (floor - top);
    const gap = [1, 2, 4, 8, 16, 32, 64].find((each) => (high - low) / each <= 8) ?? 128;
    const ticks = [];
    for (let tick = Math.ceil(low / gap) * gap; tick <= high; tick += gap) ticks.push(tick);
    const overflows = [...pattern].flatMap((letter, index) => (letter === "N"
      ? [svg("rect", { class: "overflow-step", x: this.start(index + 1), width: this.start(index + 2) - this.start(index + 1), y: top, height: floor - top })] : []));
    this.picture.replaceChildren(...overflows, ...ticks.flatMap((tick) => [
      svg("line", { class: "share-line", x1: this.axis.left, x2: this.axis.right, y1: this.y(tick), y2: this.y(tick) }),
      svg("text", { class: "share", x: this.axis.left - 8 * unit, y: this.y(tick) + 5 * unit, "text-anchor": "end" }, power(tick)),
    ]), this.stepAxis(words.say("stepAxis")), ...traces.map((trace, place) => svg("path", { class: `overlay-line line-${place}`, d: this.path(trace) })),
    ...(this.labelled ? this.labels(traces, unit, floor) : []));
  }

  path({ scales, steps }) {
    return scales.map(([step, log2], place) => {
      if (log2 === null) return "";
      const to = scales[place + 1]?.[0] ?? steps + 2;
      return `${place && scales[place - 1][1] !== null ? "L" : "M"}${this.start(step)},${this.y(log2)}H${this.start(to)}`;
    }).join("");
  }

  labels(traces, unit, floor) {
    const ends = traces.flatMap(({ scales }, place) => (scales.at(-1)[1] === null ? [] : [{ place, y: this.y(scales.at(-1)[1]) + 5 * unit }]));
    return spread(ends, 17 * unit, floor).map(({ place, y }) => svg("text", { class: `overlay-label line-${place}`, x: this.axis.right + 8 * unit, y }, String(place + 1)));
  }
}

export class OverlayCard {
  constructor(store, presets) {
    const { words } = store;
    this.store = store;
    this.chart = new OverlayChart(store, "overlay-chart");
    this.pattern = html("input", { type: "text", id: "lse-pattern", class: "field pattern", "aria-describedby": "lse-pattern-hint", value: PATTERN, spellcheck: "false", autocomplete: "off", onchange: () => this.ask() });
    this.fromRun = html("button", { type: "button", onclick: () => this.takeRun() }, words.say("patternFromRun"));
    this.boxes = ["mine", ...Object.keys(presets)].map((name) => ({
      name, box: html("input", { type: "checkbox", value: name, checked: ["mine", "deepspeed_zero", "megatron"].includes(name), onchange: () => this.ask() }),
    }));
    this.problem = html("p", { class: "problem", role: "alert" });
    this.legend = html("ol", { class: "overlay-legend" });
    this.mark = recordedMark(words, words.say("overlayRecorded"));
    this.element = html("section", { class: "card overlay-card", "aria-labelledby": "lse-overlay-title" },
      html("h2", { id: "lse-overlay-title" }, words.say("overlayTitle")),
      html("div", { class: "entry" }, html("label", { for: "lse-pattern" }, words.say("patternLabel")), this.pattern, this.fromRun),
      html("p", { class: "quiet", id: "lse-pattern-hint" }, words.say("patternHint")),
      html("fieldset", { class: "policies" }, html("legend", { class: "quiet" }, words.say("policiesLegend", { n: MOST, most: MOST })),
        ...this.boxes.map(({ name, box }) => html("label", {}, box, html("span", {}, words.say(`scaler-${name}`))))),
      this.problem, this.chart.element, this.legend, this.mark);
  }

  // Have the same pattern and scalers as a former card, and what came of them.
  follow({ pattern, boxes, traces, asked }) {
    this.pattern.value = pattern.value;
    this.boxes.forEach(({ box }, place) => { box.checked = boxes[place].box.checked; });
    Object.assign(this, { traces, asked });
  }

  takeRun() {
    if (!this.run) return;
    this.pattern.value = patternOf(this.run);
    this.ask();
  }

  chosen() {
    return this.boxes.filter(({ box }) => box.checked).map(({ name }) => (name === "mine" ? this.store.state.policy : name));
  }

  // The recorded traces of all that are chosen, where there are such.
  held() {
    const { recorded, pattern } = this;
    if (!recorded || pattern.value !== recorded.pattern) return null;
    const traces = this.chosen().map((policy) => recorded.traces.find((trace) => trace.policy === policy));
    return traces.every(Boolean) ? traces : null;
  }

  // Traces are Python's to make; without it the last ones stay.
  ask() {
    const { store } = this;
    const policies = this.chosen(), pattern = this.pattern.value;
    const asked = this.asked = `${policies.join(" ")} ${pattern}`;
    write(this.problem, "");
    if (policies.length > MOST) return void write(this.problem, store.words.say("tooManyPolicies", { n: MOST, most: MOST }));
    const held = this.held();
    if (held) return this.take("", held);
    if (!store.online) return void write(this.problem, store.words.say(store.model.saved ? "settingsNeedLive" : "settingsNeedServer"));
    return void store.question({ overlay: { pattern, policies } }, { done: ({ problem, overlay }) => { if (asked === this.asked) this.take(problem, overlay); } });
  }

  take(problem, overlay) {
    if (problem) return void write(this.problem, problem);
    this.traces = overlay;
    this.drawTraces();
    return undefined;
  }

  // The reader's own scaler may have changed.
  draw(size, run, recorded) {
    this.size = size;
    Object.assign(this, { run, recorded });
    change(this.fromRun, { disabled: !run?.end });
    // A scaler of the reader's own need not be among the recorded ones.
    this.traces = this.held() ?? this.traces ?? recorded?.traces.filter(({ policy }) => this.chosen().includes(policy));
    change(this.mark, { "data-hidden": !recorded });
    if (this.store.online && this.asked !== `${this.chosen().join(" ")} ${this.pattern.value}`) this.ask();
    this.drawTraces();
  }

  drawTraces() {
    const { words } = this.store;
    if (!this.traces?.length || !this.size) return void change(this.chart.element, { "data-hidden": true });
    change(this.chart.element, { "data-hidden": false });
    // What comes while the view is not shown is drawn once it is.
    const width = this.chart.element.clientWidth;
    if (!width) return undefined;
    const pattern = this.traces.reduce((longest, trace) => (trace.pattern.length > longest.length ? trace.pattern : longest), "");
    this.chart.draw({ ...this.size, width }, this.traces, pattern);
    this.legend.replaceChildren(...this.traces.map((trace, place) => {
      const values = { name: scalerName(trace.policy, words), n: trace.pattern.split("N").length - 1, last: pretty(trace.scales.at(-1)[2]) };
      return html("li", { class: `line-${place}` }, words.say(trace.raised ? "overlayRaised" : "overlayEnds", values));
    }));
    return undefined;
  }
}
