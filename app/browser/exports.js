// Saving what is shown: the numbers as CSV and JSON, the charts as SVG and PNG, and NumPy that gives the numbers again.

import { change, html, write } from "./dom.js";
import { painted, standalone } from "./snapshot.js";

// Pixels of a PNG to one of the page's, characters that a text box takes without a pause, and how long a browser
// may take to fetch what it saves, in milliseconds.
const SHARPNESS = 2, MOST_SHOWN = 500_000, FETCHED = 60_000;

const KINDS = {
  CSV: { ending: "csv", type: "text/csv" }, JSON: { ending: "json", type: "application/json" },
  SVG: { ending: "svg", type: "image/svg+xml" }, PNG: { ending: "png", type: "image/png" }, NumPy: { ending: "py", type: "text/x-python" },
};

export class Exports {
  constructor(store, copier, told) {
    const { words } = store;
    Object.assign(this, { store, told });
    const buttons = Object.keys(KINDS).map((kind) => html("button", { type: "button", onclick: () => this.save(kind) }, kind));
    this.text = html("textarea", { class: "share-export", readonly: true, rows: 6, wrap: "off", "aria-label": words.say("exportText"), spellcheck: "false" });
    this.result = html("div", { class: "share-result", "data-hidden": true }, this.text, copier(this.text));
    this.element = html("div", { role: "group", "aria-labelledby": "lse-export-title" },
      html("p", { class: "share-label", id: "lse-export-title" }, words.say("exportTitle")),
      html("div", { class: "share-row share-kinds" }, ...buttons), this.result);
  }

  clear() {
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
    return kind === "SVG" || kind === "PNG" ? this.picture(kind) : this.store.page.shown.content(kind, this);
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
    return `loss-scaling-${this.store.page.shown.stem()}`;
  }

  ask(message) {
    return new Promise((done) => { this.store.question(message, { done }); });
  }

  // The charts

  async picture(kind) {
    const picture = this.drawn();
    if (!picture) return this.nothing();
    if (kind === "SVG") return picture.text;
    return await painted(picture, SHARPNESS).catch(() => null) ?? void this.tell(this.store.words.say("exportNoPicture"));
  }

  // The charts as one picture; null where there are none.
  drawn() {
    const charts = this.charts();
    return charts.length ? standalone(this.title(), this.store.page.spoken(), charts, this.stem().replaceAll(".", "_")) : null;
  }

  charts() {
    return this.store.page.shown.charts().map(({ element }) => ({ element, title: element.closest(".card").querySelector("h2").textContent }))
      .filter(({ element }) => element.clientWidth > 0);
  }

  title() {
    const { shown } = this.store.page;
    return shown.pictureTitle({ format: this.format().label, scale: shown.scaleText() });
  }
}

function download(blob, name) {
  const href = URL.createObjectURL(blob);
  html("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), FETCHED);
}
