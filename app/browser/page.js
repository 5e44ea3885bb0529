// The page: builds the views once and keeps them in step with the store.

import { Choice, TryList } from "./choices.js";
import { change, html, write } from "./dom.js";
import { DistributionView } from "./distributionview.js";
import { Frame } from "./frame.js";
import { GradientList } from "./gradientlist.js";
import { Journey } from "./journey.js";
import { LandingChart } from "./landingchart.js";
import { OutcomeCard, outcomeText, spokenOutcome } from "./outcome.js";
import { Share } from "./share.js";
import { useFontOf } from "./measure.js";
import { NumbersTable } from "./table.js";
import { Timeline } from "./timeline.js";
import { WindowChart } from "./windowchart.js";
import { pretty, scaleEquation } from "./words.js";

const QUIET = 600;

// What a change of asks for new drawings; the scale alone does not.
const REDRAWN = ["gradients", "format", "scale", "view", "data", "losing"];

// A notice stays a notice: so many parts of a bad link, and so much of each.
const MOST_NAMED = 6, LONGEST_NAMED = 80;

export class Page {
  constructor(store, setup, codec, isPage) {
    Object.assign(this, { store, setup, codec, isPage });
    store.page = this;
    const framed = window.parent !== window;
    this.timeline = new Timeline((state) => codec.write(state), (state) => store.restore(state), { owned: isPage && !framed, hash: store.model.saved });
    this.build();
    this.frame = new Frame(this, framed);
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  build() {
    const { store, setup } = this;
    const { words } = store;
    this.formats = new Choice("format", words.say("formatLegend"),
      Object.entries(setup.formats).map(([value, { label }]) => ({ value, label, description: words.say(`format-${value}`) })),
      (format) => store.act({ format }));
    this.theme = new Choice("theme", words.say("themeLegend"),
      ["auto", "light", "dark"].map((value) => ({ value, label: words.say(`theme-${value}`) })), (theme) => store.act({ theme }));
    this.view = new Choice("view", words.say("viewLegend"),
      ["window", "distribution"].map((value) => ({ value, label: words.say(`view-${value}`) })), (view) => store.act({ view }));
    this.distribution = new DistributionView(store, setup.losing);
    this.share = new Share(store, setup);
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
    this.element = this.layOut();
  }

  layOut() {
    const { words } = this.store;
    const heading = html("p", { class: "heading" }, html("strong", {}, words.say("title")), " ", html("span", {}, words.say("subtitle")));
    const reset = html("button", { type: "button", class: "reset", onclick: () => this.store.begin(this.setup.beginning) }, words.say("reset"));
    const windowCard = html("section", { class: "card window", "aria-labelledby": "lse-window-title" },
      html("h2", { id: "lse-window-title" }, words.say("windowTitle")), this.windowChart.element, this.list.forms);
    const landingCard = html("section", { class: "card landing-card" }, this.landingTitle, this.landing.element);
    this.controls = {
      format: this.formats.element, theme: this.theme.element, reset, share: this.share.button, gradients: this.list.addForm,
      scale: this.list.scaleForm, outcome: this.outcome.element, landing: landingCard, journey: this.journey.element,
      try: this.tries.element, numbers: this.table.element, view: this.view.element, data: this.distribution.data.element,
    };
    this.views = {
      window: { left: [windowCard, landingCard], right: [this.outcome.element, this.journey.element, this.tries.element], below: [this.table.element] },
      distribution: this.distribution,
    };
    this.left = html("div", { class: "left" });
    this.right = html("div", { class: "right" });
    this.columns = html("div", { class: "columns" });
    return html("div", { class: "lossscale" }, html("style", {}, STYLE),
      html("div", { class: "bar-top" }, heading, this.view.element, this.formats.element, this.theme.element, reset, this.share.button),
      this.columns,
      html("p", { class: "leaves-out" }, words.say("leavesOut")),
      this.notice, this.live, this.share.dialog);
  }

  mount(ground) {
    const { state } = this.store;
    this.themed = this.isPage ? document.documentElement : this.element;
    change(this.element, { "data-embed": state.embed });
    for (const [name, control] of Object.entries(this.controls)) change(control, { "data-hidden": state.hide.includes(name) });
    ground.replaceChildren(this.element);
    useFontOf(this.element);
    this.frame.mount();
    this.draw();
    this.timeline.begin(state);
    this.entitle();
    if (this.isPage) addEventListener("hashchange", () => this.hashChanged());
    for (const chart of [this.windowChart, this.distribution.curve]) new ResizeObserver(() => this.resized()).observe(chart.element);
  }

  resized() {
    const { width, unit } = this.size();
    if (width > 0 && (width !== this.drawn.width || unit !== this.drawn.unit)) this.draw();
  }

  // Of the chart that is shown.
  size() {
    const { element } = this.inDistribution ? this.distribution.curve : this.windowChart;
    return { width: element.clientWidth, unit: parseFloat(getComputedStyle(element).fontSize) / 16 };
  }

  get inDistribution() {
    return this.store.state.view === "distribution";
  }

  draw(keepAxis = false) {
    const { state, words, lookups } = this.store;
    this.arrange(state.view);
    write(this.landingTitle, words.say("landingTitle", { format: lookups.formats[state.format].label }));
    this.frame.fit(() => this.drawCharts(keepAxis));
  }

  // Only the parts of the view that is shown are in the document.
  arrange(view) {
    if (this.element.dataset.view === view) return;
    change(this.element, { "data-view": view });
    const { left, right, below } = this.views[view];
    this.left.replaceChildren(...left);
    this.right.replaceChildren(...right);
    this.columns.replaceChildren(this.left, this.right, ...below);
  }

  drawCharts(keepAxis) {
    if (this.inDistribution) this.distribution.reveal();
    this.drawn = this.size();
    if (this.inDistribution) {
      if (this.drawn.width > 0) this.distribution.draw({ ...this.drawn, layout: this.frame.layout });
    } else if (this.drawn.width > 0) {
      this.windowChart.draw({ ...this.drawn, layout: this.frame.layout }, keepAxis);
      this.list.draw(this.windowChart.geometry, this.drawn.width, this.windowChart.axis.left);
      if (!keepAxis || !this.landing.rows) this.landing.draw(this.drawn);
    }
    this.show();
  }

  show() {
    const { state } = this.store;
    if (this.inDistribution) this.distribution.show();
    else this.showWindow();
    this.view.show(state.view);
    this.formats.show(state.format);
    this.theme.show(state.theme);
    this.frame.show(state);
    change(this.themed, { "data-theme": state.theme });
  }

  showWindow() {
    if (this.drawn.width > 0) {
      this.windowChart.show();
      this.landing.show();
    }
    this.windowChart.slider.show(this.store.state, this.spoken());
    for (const part of [this.outcome, this.journey, this.table, this.tries]) part.show();
  }

  spoken() {
    const { state, lookups, words } = this.store;
    return this.inDistribution ? this.distribution.spoken() : spokenOutcome(state, lookups, words);
  }

  changed(before, kind) {
    const { state } = this.store;
    if (REDRAWN.some((name) => before[name] !== state[name])) this.draw(kind === "octave");
    else {
      this.show();
      this.frame.refit();
    }
    this.axisWaits ||= kind === "octave";
    if (kind !== "set") this.timeline.drag(state);
    this.tellSoon();
  }

  // The axis was held while a gradient was dragged; now it may follow.
  rested() {
    this.timeline.rest(this.store.state);
    this.entitle();
    this.frame.rested();
    if (!this.axisWaits) return;
    this.axisWaits = false;
    const focus = this.element.getRootNode().activeElement;
    const place = this.landing.rows.findIndex((row) => row.handle === focus);
    this.draw();
    if (place >= 0) this.landing.rows[place].handle.focus({ preventScroll: true });
  }

  noted() {
    this.timeline.note(this.store.state);
  }

  entitle() {
    if (!this.isPage) return;
    const { state, lookups, words } = this.store;
    const title = this.inDistribution ? this.distribution.title() : outcomeText(state, lookups, words, pretty).title;
    const notch = this.inDistribution ? { ...state, scale: null } : state;
    document.title = words.say("documentTitle", { scale: scaleEquation(notch, lookups, words), outcome: title });
  }

  // The consequence, said once the hand rests.
  tellSoon() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      write(this.live, this.spoken());
    }, QUIET);
  }

  taken(box, text) {
    this.list.taken(box, text);
  }

  problem(sentence, box = null) {
    this.list.show(sentence, box);
  }

  // What was typed needs Python, and there is none.
  alone(box) {
    const { words, model } = this.store;
    this.problem(words.say(model.saved ? "needsLive" : "needsServer"), box);
  }

  offline() {
    const { store, setup } = this;
    store.goOffline();
    const again = html("button", { type: "button", onclick: () => this.reconnect() }, store.words.say("reconnect"));
    this.notice.replaceChildren(store.words.say("offline"), " ", setup.live.asks ? again : "");
    this.frame.refit();
  }

  // The state is in the link, so a new session can take it up; but only once there is a server to give one.
  async reconnect() {
    const address = this.address();
    try {
      await fetch("liveness", { cache: "no-store" });
      location.assign(address);
    } catch {
      this.notice.firstChild.textContent = this.store.words.say("stillOffline");
    }
  }

  ignored(parts = []) {
    if (!this.store.online && !this.store.model.saved) return;
    const named = parts.slice(0, MOST_NAMED).map((part) => (part.length > LONGEST_NAMED ? `${part.slice(0, LONGEST_NAMED)}…` : part));
    if (parts.length > MOST_NAMED) named.push("…");
    write(this.notice, parts.length ? this.store.words.say("ignored", { n: parts.length, parts: named.join(", ") }) : "");
    this.frame.refit();
  }

  link(changes = {}) {
    return this.codec.write({ ...this.store.state, ...changes });
  }

  // The address of a state. A saved page has it in the hash; on a disk it speaks of the live one, if it knows it.
  address(changes) {
    const link = this.link(changes), { saved } = this.store.model;
    if (saved && !location.protocol.startsWith("http") && this.setup.live.address) return this.setup.live.address + link;
    return location.href.split(/[?#]/)[0] + (saved ? link.replace("?", "#") : link);
  }

  // Take up the state of a link; whether the page is embedded, and what it hides, stays.
  goTo(text) {
    const { store, codec } = this;
    const link = codec.read(text);
    const next = { ...link.state, embed: store.state.embed, hide: store.state.hide };
    if (codec.write(next) !== codec.write(store.state)) store.turnTo(next);
    this.unread(text, link);
  }

  // A hash that the reader typed or followed has made an entry of its own in the history.
  hashChanged() {
    const { hash } = location;
    if (history.state?.lossscale || !hash.includes("=")) return;
    const { state, unread } = this.codec.read(hash);
    this.timeline.adopt({ ...this.store.state, ...state }, unread.length > 0);
    this.goTo(hash);
  }

  // The numbers of a link whose tables are not here are Python's to read.
  unread(text, { ignored, unread }) {
    if (unread.length && this.store.online) this.store.openLink(text);
    else this.ignored([...ignored, ...unread]);
  }

  key(event) {
    const typing = event.target.matches?.("input[type=text], textarea");
    if (typing || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const redo = key === "y" || (key === "z" && event.shiftKey);
    if (!redo && key !== "z") return;
    event.preventDefault();
    // What is still settling is a decision too.
    this.store.rest();
    if (redo) this.timeline.redo();
    else this.timeline.undo();
  }
}
