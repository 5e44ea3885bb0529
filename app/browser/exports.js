// Saving what is shown: the numbers as CSV and JSON, the charts as SVG and PNG, and NumPy that gives the numbers again.

import { countsCsv, countsJson } from "./countfiles.js";
import { change, html, write } from "./dom.js";
import { countSnippet, datasetSource, fileSource, listSnippet } from "./numpy.js";
import { painted, standalone } from "./snapshot.js";
import { scaleEquation } from "./words.js";

// Pixels of a PNG to one of the page's, characters that a text box takes without a pause, and how long a browser
// may take to fetch what it saves, in milliseconds.
const SHARPNESS = 2, MOST_SHOWN = 500_000, FETCHED = 60_000;

const KINDS = {
  CSV: { ending: "csv", type: "text/csv" }, JSON: { ending: "json", type: "application/json" },
  SVG: { ending: "svg", type: "image/svg+xml" }, PNG: { ending: "png", type: "image/png" }, NumPy: { ending: "py", type: "text/x-python" },
};

export class Exports {
  constructor(store, copier, told) {
    const { words, model } = store;
    Object.assign(this, { store, told, waiting: new Map() });
    const buttons = Object.keys(KINDS).map((kind) => html("button", { type: "button", onclick: () => this.save(kind) }, kind));
    this.text = html("textarea", { class: "share-export", readonly: true, rows: 6, wrap: "off", "aria-label": words.say("exportText"), spellcheck: "false" });
    this.result = html("div", { class: "share-result", "data-hidden": true }, this.text, copier(this.text));
    this.element = html("div", { role: "group", "aria-labelledby": "lse-export-title" },
      html("p", { class: "share-label", id: "lse-export-title" }, words.say("exportTitle")),
      html("div", { class: "share-row share-kinds" }, ...buttons), this.result);
    model.on("msg:custom", (message) => this.answered(message));
    model.document?.on_event?.("connection_lost", () => this.lost());
  }

  clear() {
    this.waiting.clear();
    this.show("");
  }

  async save(kind) {
    const { words } = this.store;
    const { ending, type } = KINDS[kind], name = `${this.stem()}.${ending}`;
    this.show("");
    const content = await this.content(kind);
    if (!content) return;
    download(new Blob([content], { type }), name);
    this.show(typeof content === "string" ? content : "");
    const framed = window.parent !== window;
    this.tell(framed ? words.say("exportFramed", { name }) : words.say("exportSaved", { name }));
  }

  tell(sentence) {
    write(this.told, sentence);
    this.told.scrollIntoView({ block: "nearest" });
  }

  show(text) {
    const shown = text.length <= MOST_SHOWN ? text : "";
    this.text.value = shown;
    change(this.result, { "data-hidden": shown === "" });
  }

  // The text or the image of a kind; null once it has been said why there is none.
  content(kind) {
    const { state } = this.store;
    if (kind === "SVG" || kind === "PNG") return this.picture(kind);
    if (state.view === "window") return kind === "NumPy" ? this.listNumpy() : this.listFile(kind);
    const data = this.store.page.distribution.current();
    if (!data) return this.nothing();
    if (kind === "CSV") return countsCsv(data, state.format);
    if (kind === "JSON") return countsJson(data, this.store.page.link());
    return countSnippet(data.name === undefined ? datasetSource(data.id) : fileSource(data.name), state.k, this.format());
  }

  nothing() {
    this.tell(this.store.words.say("exportNothing"));
    return null;
  }

  format() {
    const { state, lookups } = this.store;
    return { name: state.format, label: lookups.formats[state.format].label };
  }

  // Without its ending: the view, the scale and the format.
  stem() {
    const { state, page } = this.store;
    const isList = state.view === "window";
    const what = isList ? "window" : `distribution-${page.distribution.of ?? state.data}`;
    return `loss-scaling-${what}-${isList && state.scale ? `s${state.scale.link}` : `k${state.k}`}-${state.format}`;
  }

  // The numbers of a list

  listNumpy() {
    const { state, lookups } = this.store;
    return listSnippet(state, (gradient) => lookups.track(gradient), this.format());
  }

  // The page's own tables hold texts for people; all digits are Python's to write.
  async listFile(kind) {
    const { words, model, online, page } = this.store;
    if (!online) return void this.tell(words.say(model.saved ? "exportNeedsLive" : "exportNeedsServer"));
    this.tell(words.say("exportAsking"));
    const { problem, csv, json } = await this.ask(page.link());
    if (problem) return void this.tell(problem);
    return kind === "CSV" ? csv : json;
  }

  ask(link) {
    const { store } = this;
    store.asked += 1;
    store.model.send_msg({ ask: store.asked, "export": link });
    return new Promise((done) => { this.waiting.set(store.asked, done); });
  }

  answered(message) {
    this.waiting.get(message.answer)?.(message);
    this.waiting.delete(message.answer);
  }

  lost() {
    for (const done of this.waiting.values()) done({ problem: this.store.words.say("exportNeedsServer") });
    this.waiting.clear();
  }

  // The charts

  async picture(kind) {
    const charts = this.charts();
    if (!charts.length) return this.nothing();
    const picture = standalone(this.title(), this.store.page.spoken(), charts, this.stem().replaceAll(".", "_"));
    if (kind === "SVG") return picture.text;
    return await painted(picture, SHARPNESS).catch(() => null) ?? void this.tell(this.store.words.say("exportNoPicture"));
  }

  charts() {
    const { page } = this.store;
    const shown = page.inDistribution ? [page.distribution.curve, page.distribution.histogram] : [page.windowChart, page.landing];
    return shown.map(({ element }) => ({ element, title: element.closest(".card").querySelector("h2").textContent }))
      .filter(({ element }) => element.clientWidth > 0);
  }

  title() {
    const { state, lookups, words, page } = this.store;
    const { curve, data, of } = page.distribution;
    const values = { format: this.format().label, scale: scaleEquation(page.inDistribution ? { ...state, scale: null } : state, lookups, words) };
    const windowOf = (chart) => chart.caption.firstChild.textContent;
    return page.inDistribution
      ? words.say("pictureOfData", { ...values, data: data.name(of), window: windowOf(curve) })
      : words.say("pictureOfList", { ...values, window: windowOf(page.windowChart) });
  }
}

function download(blob, name) {
  const href = URL.createObjectURL(blob);
  html("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), FETCHED);
}
