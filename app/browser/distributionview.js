// The distribution view: everything a model produced, at the scale of the slider.

import { countsCsv, countsJson } from "./countfiles.js";
import { CurveChart } from "./curvechart.js";
import { DataCard } from "./datacard.js";
import { change, html, write } from "./dom.js";
import { Histogram } from "./histogram.js";
import { KeptCard, keptText, spokenKept } from "./keptcard.js";
import { countSnippet, datasetSource, fileSource } from "./numpy.js";
import { OctaveTable } from "./octavetable.js";
import { TensorTable } from "./tensortable.js";
import { scaleEquation } from "./words.js";

export class DistributionView {
  constructor(store, { losing }) {
    const { words } = store;
    this.store = store;
    this.chart = new CurveChart(store);
    this.histogram = new Histogram(store);
    this.kept = new KeptCard(store, losing);
    this.data = new DataCard(store);
    this.tensors = new TensorTable(store);
    this.octaves = new OctaveTable(store);
    this.histogramTitle = html("h2", {});
    this.curveCard = html("section", { class: "card window", "aria-labelledby": "lse-curve-title" },
      html("h2", { id: "lse-curve-title" }, words.say("curveTitle")), this.chart.element);
    this.histogramCard = html("section", { class: "card landing-card" }, this.histogramTitle, this.histogram.element);
    this.left = [this.curveCard, this.histogramCard];
    this.right = [this.kept.element, this.data.element];
    this.below = [this.tensors.element, this.octaves.element];
  }

  controls() {
    return { data: this.data.element };
  }

  // What is shown; what is not here yet is asked for, and until then the former one stays.
  current() {
    const data = this.store.distribution();
    if (data) Object.assign(this, { shown: data, of: this.store.state.data });
    return data ?? this.shown ?? null;
  }

  // Until there is something to show there is just the choice of what. Cards have a size only once they are seen.
  reveal() {
    const data = this.current();
    for (const card of [this.curveCard, this.histogramCard, this.kept.element]) change(card, { "data-hidden": !data, "data-of": data ? this.of : null });
    if (!data) for (const part of this.below) change(part, { "data-hidden": true });
  }

  draw(size) {
    const { words, lookups, state } = this.store;
    const data = this.current();
    write(this.histogramTitle, words.say("histogramTitle", { format: lookups.formats[state.format].label }));
    if (!data) return;
    this.chart.draw(size, data);
    this.histogram.draw(size, data);
    this.octaves.draw(data);
  }

  show() {
    const data = this.current();
    this.data.show();
    if (!data || !this.chart.axis) return;
    this.chart.show();
    this.histogram.show(data);
    this.kept.show(data);
    this.tensors.show(data);
    this.chart.slider.show({ k: this.store.state.k, scale: null }, this.spoken());
  }

  // Sort the same way as a former view, which was in another language.
  follow({ tensors: { by, down } }) {
    Object.assign(this.tensors, { by, down });
  }

  title() {
    const data = this.current();
    return data ? keptText(data, this.store).title : "";
  }

  spoken() {
    const data = this.current();
    return data ? spokenKept(data, this.store) : "";
  }

  scaleText() {
    const { state, lookups, words } = this.store;
    return scaleEquation({ ...state, scale: null }, lookups, words);
  }

  // What is saved

  stem() {
    const { state } = this.store;
    return `distribution-${this.of ?? state.data}-k${state.k}-${state.format}`;
  }

  charts() {
    return [this.chart, this.histogram];
  }

  pictureTitle(values) {
    return this.store.words.say("pictureOfData", { ...values, data: this.data.name(this.of), window: this.chart.caption.firstChild.textContent });
  }

  content(kind, exports) {
    const { state, page } = this.store;
    const data = this.current();
    if (!data) return exports.nothing();
    if (kind === "CSV") return countsCsv(data, state.format);
    if (kind === "JSON") return countsJson(data, page.link());
    return countSnippet(data.name === undefined ? datasetSource(data.id) : fileSource(data.name), state.k, exports.format());
  }
}
