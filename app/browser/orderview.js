// The order view: one step, block by block, and what it does to the weights when a block is out of its place.

import { BlockLine } from "./blockline.js";
import { change, html } from "./dom.js";
import { CHOICES } from "./orderblocks.js";
import { OrderCard, orderText, spokenOrder } from "./ordercard.js";
import { OrderChart } from "./orderchart.js";
import { orderCsv, orderJson, orderSnippet } from "./orderfiles.js";
import { OrderNumbers } from "./ordernumbers.js";
import { OrderTables, RIGHT } from "./ordertables.js";
import { OrderTries } from "./ordertries.js";
import { scaleEquation } from "./words.js";

export class OrderView {
  constructor(store, setup) {
    const { words } = store;
    Object.assign(this, { store, setup });
    this.tables = store.tables ??= new OrderTables(store, setup, () => store.page.came());
    this.chart = new OrderChart(store);
    this.line = new BlockLine(store, (name, value) => this.put(name, value));
    this.card = new OrderCard(store);
    this.tries = new OrderTries(store, setup.orders.examples);
    this.numbers = new OrderNumbers(store);
    this.chartCard = html("section", { class: "card window order-window", "aria-labelledby": "lse-order-title" },
      html("h2", { id: "lse-order-title" }, words.say("orderChartTitle")), this.chart.element);
    this.left = [this.chartCard, this.line.element];
    this.right = [this.card.element, this.tries.element];
    this.below = [this.numbers.element];
  }

  controls() {
    return { example: this.tries.element, blocks: this.line.element };
  }

  // Put a block somewhere else.
  put(name, value) {
    const { state } = this.store;
    if (name in state) return this.store.act({ [name]: value });
    const others = state.misplaced.filter((each) => each !== name);
    const misplaced = value === CHOICES[name].values[0] ? others : [...others, name];
    return this.store.act({ misplaced: this.tables.names.filter((each) => misplaced.includes(each)) });
  }

  // What is shown; while it is on its way, the former step stays.
  current() {
    const { state, words, model, lookups } = this.store, { example, at, unscale, misplaced, format } = state;
    const mine = { example, at, unscale, misplaced, format }, right = { ...mine, ...RIGHT };
    // Both are asked for at once.
    if ([mine, right].map((each) => this.tables.awaits(each)).some(Boolean)) return this.shown ?? null;
    const absent = model.saved ? "orderRecordedOnly" : "orderNeedsServer";
    this.shown = {
      of: this.tables.key(mine), order: { at, unscale, misplaced }, example: this.setup.orders.examples[example], format: lookups.formats[format].label,
      recorded: this.tables.isRecorded(mine), mine: this.tables.get(mine), right: this.tables.get(right), problem: this.tables.problem(mine) || words.say(absent),
    };
    return this.shown;
  }

  // Cards have a size only once they are seen.
  reveal() {
    const waits = !this.current();
    for (const card of [this.chartCard, this.line.element, this.card.element, this.numbers.element]) change(card, { "data-waits": waits });
  }

  draw(size) {
    const shown = this.current();
    if (!shown) return;
    this.chart.draw(size, shown);
    this.line.draw(shown);
  }

  show() {
    const shown = this.current();
    this.tries.show();
    if (!shown || !this.chart.axis) return;
    this.chart.show();
    for (const part of [this.card, this.line, this.numbers]) part.show(shown);
    this.chart.slider.show({ k: this.store.state.k, scale: null }, this.spoken());
  }

  given(state) {
    return this.tries.given(state);
  }

  title() {
    const shown = this.current();
    return shown ? orderText(shown, this.store).title : "";
  }

  spoken() {
    const shown = this.current();
    return shown ? spokenOrder(shown, this.store) : "";
  }

  scaleText() {
    const { state, lookups, words } = this.store;
    return scaleEquation({ ...state, scale: null }, lookups, words);
  }

  // What is saved

  stem() {
    const { state } = this.store;
    return `order-${state.example}-k${state.k}-${state.format}`;
  }

  charts() {
    return [this.chart];
  }

  pictureTitle(values) {
    return this.store.words.say("pictureOfOrder", { ...values, title: this.title() });
  }

  content(kind, exports) {
    const { state, page } = this.store, shown = this.current();
    if (kind === "NumPy" && shown) return orderSnippet(shown, this.setup.orders.misplaced, state.k, exports.format());
    if (!shown?.mine) return exports.nothing();
    return kind === "CSV" ? orderCsv(shown, state.k) : orderJson(shown, state, page.link());
  }
}
