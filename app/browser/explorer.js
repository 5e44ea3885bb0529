// The page: builds the views once and keeps them in step with the store.
//
// Runs under Panel, where `model` is the component's proxy, and in a saved page, where it is a plain object.

import { Choice, TryList } from "./choices.js";
import { change, html, write } from "./dom.js";
import { GradientList } from "./gradientlist.js";
import { Journey } from "./journey.js";
import { LandingChart } from "./landingchart.js";
import { Lookups } from "./lookup.js";
import { OutcomeCard, spokenOutcome } from "./outcome.js";
import { Store } from "./store.js";
import { NumbersTable } from "./table.js";
import { WindowChart } from "./windowchart.js";
import { Words } from "./words.js";

const QUIET = 600;

// The page has a place for the explorer in the document itself, where text search, print and readers
// find it; a notebook cell has only the component's own element.
function render({ model, el }) {
  const ground = document.querySelector("[data-lossscale-page]");
  const setup = JSON.parse(model.setup);
  const rows = JSON.parse(model.rows);
  const words = new Words(setup.messages, setup.language);
  const lookups = new Lookups(JSON.parse(model.tracks), setup.formats, setup.scaleTexts);
  const store = new Store(model, lookups, words, setup.presets, {
    gradients: rows.gradients, scale: rows.scale, k: model.log2_scale, format: model.format, selected: model.selected, theme: model.theme,
  });
  const page = new Page(store, setup);
  page.mount(ground ?? el, ground !== null);
  listen(model, store, page);
}

function listen(model, store, page) {
  // One message can bring both, in either order; what follows it sees both.
  const arrived = () => queueMicrotask(() => {
    store.lookups.take(JSON.parse(model.tracks));
    store.arrived(JSON.parse(model.rows));
  });
  model.on("rows", arrived);
  for (const [name, key] of [["log2_scale", "k"], ["format", "format"], ["selected", "selected"], ["theme", "theme"]]) {
    model.on(name, () => {
      if (store.state[key] !== model[name]) store.act({ [key]: model[name] }, "drag");
    });
  }
  model.on("msg:custom", ({ problem }) => store.answered(problem));
  model.document?.on_event?.("connection_lost", () => page.offline());
}

class Page {
  constructor(store, setup) {
    const { words } = store;
    this.store = store;
    this.beginning = setup.beginning;
    this.style = html("style", {}, STYLE);
    this.formats = new Choice("format", words.say("formatLegend"),
      Object.entries(setup.formats).map(([value, { label }]) => ({ value, label, description: words.say(`format-${value}`) })),
      (format) => store.act({ format }));
    this.theme = new Choice("theme", words.say("themeLegend"),
      ["auto", "light", "dark"].map((value) => ({ value, label: words.say(`theme-${value}`) })), (theme) => store.act({ theme }));
    const reset = html("button", { type: "button", class: "reset", onclick: () => store.tryPreset(setup.beginning) }, words.say("reset"));
    this.windowChart = new WindowChart(store);
    this.list = new GradientList(store);
    this.windowChart.labels.replaceWith(this.list.rows);
    this.landing = new LandingChart(store);
    this.outcome = new OutcomeCard(store);
    this.journey = new Journey(store);
    this.table = new NumbersTable(store);
    this.tries = new TryList(store, setup.presets);
    this.live = html("p", { class: "unseen", role: "status" });
    this.notice = html("p", { class: "notice", role: "status" });
    this.landingTitle = html("h2", {});
    const heading = html("p", { class: "heading" }, html("strong", {}, words.say("title")), " ", html("span", {}, words.say("subtitle")));
    this.element = html("div", { class: "lossscale" }, this.style,
      html("div", { class: "bar-top" }, heading, this.formats.element, this.theme.element, reset),
      html("div", { class: "columns" },
        html("div", { class: "left" },
          html("section", { class: "card", "aria-labelledby": "lse-window-title" },
            html("h2", { id: "lse-window-title" }, words.say("windowTitle")), this.windowChart.element, this.list.forms),
          html("section", { class: "card" }, this.landingTitle, this.landing.element)),
        html("div", { class: "right" }, this.outcome.element, this.journey.element, this.tries.element),
        this.table.element),
      html("p", { class: "leaves-out" }, words.say("leavesOut")),
      this.notice, this.live);
    store.views.push(this);
  }

  mount(ground, isPage) {
    ground.replaceChildren(this.element);
    this.themed = isPage ? document.documentElement : this.element;
    this.draw();
    new ResizeObserver(() => this.resized()).observe(this.windowChart.element);
  }

  resized() {
    const { width, unit } = this.size(this.windowChart.element);
    if (width > 0 && (width !== this.drawn?.width || unit !== this.drawn?.unit)) this.draw();
  }

  size(element) {
    return { width: element.clientWidth, unit: parseFloat(getComputedStyle(this.element).fontSize) / 16 };
  }

  draw(keepAxis = false) {
    const { state, words, lookups } = this.store;
    this.drawn = this.size(this.windowChart.element);
    write(this.landingTitle, words.say("landingTitle", { format: lookups.formats[state.format].label }));
    if (this.drawn.width === 0) return this.show();
    this.windowChart.draw(this.drawn, keepAxis);
    this.list.draw(this.windowChart.geometry, this.drawn.width, this.windowChart.axis.left);
    if (!keepAxis) this.landing.draw(this.drawn);
    return this.show();
  }

  show() {
    const { state, lookups, words } = this.store;
    if (this.drawn.width > 0) {
      this.windowChart.show();
      this.landing.show();
    }
    this.windowChart.slider.show(state, spokenOutcome(state, lookups, words));
    for (const part of [this.outcome, this.journey, this.table, this.tries]) part.show();
    this.formats.show(state.format);
    this.theme.show(state.theme);
    change(this.themed, { "data-theme": state.theme });
  }

  changed(before, kind) {
    const { state } = this.store;
    if (before.gradients !== state.gradients || before.format !== state.format || before.scale !== state.scale) this.draw(kind === "octave");
    else this.show();
    this.axisWaits ||= kind === "octave";
    this.tellSoon();
  }

  // The axis was held while a gradient was dragged; now it may follow.
  rested() {
    if (!this.axisWaits) return;
    this.axisWaits = false;
    const focus = this.element.getRootNode().activeElement;
    const place = this.landing.rows.findIndex((row) => row.handle === focus);
    this.draw();
    if (place >= 0) this.landing.rows[place].handle.focus({ preventScroll: true });
  }

  // The consequence, said once the hand rests.
  tellSoon() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      const { state, lookups, words } = this.store;
      write(this.live, spokenOutcome(state, lookups, words));
    }, QUIET);
  }

  taken(box) {
    if (box === this.list.field || box === this.list.scaleField) box.value = "";
  }

  problem(sentence, box) {
    this.list.show(sentence, box);
  }

  offline() {
    this.store.online = false;
    write(this.notice, this.store.words.say("offline"));
  }
}

export default { render };
