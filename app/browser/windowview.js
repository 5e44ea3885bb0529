// The window view: a few gradients, each a bar over the axis of scales.

import { TryList } from "./choices.js";
import { html, write } from "./dom.js";
import { GradientList } from "./gradientlist.js";
import { Journey } from "./journey.js";
import { LandingChart } from "./landingchart.js";
import { NORMAL, SUBNORMAL, ZERO } from "./lookup.js";
import { listSnippet } from "./numpy.js";
import { OutcomeCard, outcomeText, spokenOutcome } from "./outcome.js";
import { NumbersTable } from "./table.js";
import { WindowChart } from "./windowchart.js";
import { pretty, scaleEquation } from "./words.js";

export class WindowView {
  constructor(store, { presets }) {
    const { words } = store;
    this.store = store;
    this.chart = new WindowChart(store);
    this.list = new GradientList(store);
    this.chart.labels.replaceWith(this.list.rows);
    this.landing = new LandingChart(store);
    this.outcome = new OutcomeCard(store);
    this.journey = new Journey(store);
    this.table = new NumbersTable(store);
    this.tries = new TryList(store, presets);
    this.landingTitle = html("h2", {});
    this.landingCard = html("section", { class: "card landing-card" }, this.landingTitle, this.landing.element);
    this.left = [
      html("section", { class: "card window", "aria-labelledby": "lse-window-title" },
        html("h2", { id: "lse-window-title" }, words.say("windowTitle")), this.chart.element, this.list.forms),
      this.landingCard,
    ];
    this.right = [this.outcome.element, this.journey.element, this.tries.element];
    this.below = [this.table.element];
  }

  follow({ list }) {
    this.list.follow(list);
  }

  controls() {
    return {
      gradients: this.list.addForm, scale: this.list.scaleForm, outcome: this.outcome.element, landing: this.landingCard,
      journey: this.journey.element, try: this.tries.element, numbers: this.table.element,
    };
  }

  draw(size, keepAxis) {
    const { words, lookups, state } = this.store;
    write(this.landingTitle, words.say("landingTitle", { format: lookups.formats[state.format].label }));
    this.chart.draw(size, keepAxis);
    this.list.draw(this.chart.geometry, size.width, this.chart.axis.left);
    if (!keepAxis || !this.landing.rows) this.landing.draw(size);
  }

  show(drawn) {
    if (drawn) {
      this.chart.show();
      this.landing.show();
    }
    this.chart.slider.show(this.store.state, this.spoken());
    for (const part of [this.outcome, this.journey, this.table, this.tries]) part.show();
  }

  // Keep the focus on the gradient that was moved, while `draw` makes the rows anew.
  keepFocus(draw, focus) {
    const place = this.landing.rows.findIndex((row) => row.handle === focus);
    draw();
    if (place >= 0) this.landing.rows[place].handle.focus({ preventScroll: true });
  }

  // Whether the scale that is shown saves every gradient.
  allSurvive() {
    const { state, lookups } = this.store;
    return state.gradients.every((gradient) => [ZERO, SUBNORMAL, NORMAL].includes(lookups.row(gradient, state).outcome));
  }

  // What the view is about, without what comes of it.
  given(state) {
    const { lookups, words } = this.store;
    return words.say("givenList", {
      gradients: words.list(state.gradients.map((gradient) => pretty(lookups.name(gradient)))), format: lookups.formats[state.format].label,
    });
  }

  title() {
    const { state, lookups, words } = this.store;
    return outcomeText(state, lookups, words, pretty).title;
  }

  spoken() {
    const { state, lookups, words } = this.store;
    return spokenOutcome(state, lookups, words);
  }

  scaleText() {
    const { state, lookups, words } = this.store;
    return scaleEquation(state, lookups, words);
  }

  // What is saved

  stem() {
    const { state } = this.store;
    return `window-${state.scale ? `s${state.scale.link}` : `k${state.k}`}-${state.format}`;
  }

  charts() {
    return [this.chart, this.landing];
  }

  pictureTitle(values) {
    return this.store.words.say("pictureOfList", { ...values, window: this.chart.caption.firstChild.textContent });
  }

  // The page's own tables hold texts for people; all digits are Python's to write.
  async content(kind, exports) {
    const { state, lookups, words, model, online, page } = this.store;
    if (kind === "NumPy") return listSnippet(state, (gradient) => lookups.track(gradient), exports.format());
    if (!online) return void exports.tell(words.say(model.saved ? "exportNeedsLive" : "exportNeedsServer"));
    exports.tell(words.say("exportAsking"));
    const { problem, csv, json } = await exports.ask({ "export": page.link() });
    if (problem) return void exports.tell(this.store.online ? problem : words.say("exportNeedsServer"));
    return kind === "CSV" ? csv : json;
  }
}
