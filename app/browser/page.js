// The page: builds the views once and keeps them in step with the store.

import { Choice } from "./choices.js";
import { Classroom } from "./classroom.js";
import { DisplayMenu } from "./displaymenu.js";
import { change, html, write } from "./dom.js";
import { DistributionView } from "./distributionview.js";
import { Frame } from "./frame.js";
import { LessonBar } from "./lessonbar.js";
import { LessonCard } from "./lessoncard.js";
import { Lessons } from "./lessons.js";
import { useFontOf } from "./measure.js";
import { OrderView } from "./orderview.js";
import { placeOf } from "./readersplace.js";
import { Share } from "./share.js";
import { Timeline } from "./timeline.js";
import { TrainingView } from "./trainingview.js";
import { WindowView } from "./windowview.js";

const QUIET = 600;

// What can change without new drawings: marks move, and colours are the style sheet's.
const NOT_REDRAWN = ["k", "selected", "theme", "embed", "hide"];

// A notice stays a notice: so many parts of a bad link, and so much of each.
const MOST_NAMED = 6, LONGEST_NAMED = 80;

const VIEWS = { window: WindowView, distribution: DistributionView, training: TrainingView, order: OrderView };

export class Page {
  constructor(store, setup, codec, isPage) {
    Object.assign(this, { store, setup, codec, isPage });
    store.page = this;
    this.views = new Map();
    this.classroom = new Classroom(store, this);
    store.lessons = new Lessons(setup);
    const framed = window.parent !== window;
    this.timeline = new Timeline((state) => codec.write(state), (state) => store.restore(state), { owned: isPage && !framed, hash: store.model.saved });
    this.build();
    if (isPage) this.classroom.listen(document, framed);
    this.frame = new Frame(this, framed);
  }

  build() {
    const { store, setup } = this;
    const { words } = store;
    this.formats = new Choice("format", words.say("formatLegend"),
      Object.entries(setup.formats).map(([value, { label }]) => ({ value, label, description: words.say(`format-${value}`) })),
      (format) => store.act({ format }));
    this.menu = new DisplayMenu(store, setup.languages);
    this.lesson = new LessonCard(store, this);
    this.lessonBar = new LessonBar(store, this, setup);
    this.view = new Choice("view", words.say("viewLegend"),
      Object.keys(VIEWS).map((value) => ({ value, label: words.say(`view-${value}`) })), (view) => store.act({ view }));
    this.share = new Share(store, setup);
    this.live = html("p", { class: "unseen", role: "status" });
    this.notice = html("p", { class: "notice", role: "status" });
    this.element = this.layOut();
    this.element.addEventListener("keydown", (event) => this.key(event));
    if (!this.isPage) this.classroom.listen(this.element, true);
  }

  layOut() {
    const { words } = this.store;
    const heading = html("p", { class: "heading" }, html("strong", {}, words.say("title")), " ", html("span", {}, words.say("subtitle")));
    const reset = html("button", { type: "button", class: "reset", onclick: () => this.reset() }, html("span", {}, words.say("reset")));
    this.hide({ format: this.formats.element, theme: this.menu.theme.element, reset, share: this.share.button, view: this.view.element });
    this.left = html("div", { class: "left" });
    this.right = html("div", { class: "right" });
    this.columns = html("div", { class: "columns" });
    return html("div", { class: "lossscale" }, html("style", {}, STYLE),
      html("div", { class: "bar-top" }, heading, this.view.element, this.formats.element, this.menu.element, reset, this.share.button),
      this.lessonBar.element, this.columns,
      html("p", { class: "leaves-out" }, words.say("leavesOut")),
      this.notice, this.live, this.share.dialog);
  }

  mount(ground) {
    const { state } = this.store;
    this.ground = ground;
    this.put();
    useFontOf(this.element);
    this.frame.mount();
    this.draw();
    this.timeline.begin(state);
    this.entitle();
    if (this.isPage) addEventListener("hashchange", () => this.hashChanged());
  }

  put() {
    const { state, words } = this.store;
    this.themed = this.isPage ? document.documentElement : this.element;
    change(this.element, { "data-embed": state.embed, lang: this.isPage ? null : words.language });
    if (this.isPage) change(document.documentElement, { lang: words.language });
    this.ground.replaceChildren(this.element);
  }

  // The same page in another language; what is typed and not taken up yet stays, as does where the reader is.
  translate() {
    const putBack = placeOf(this.element);
    this.former = new Map(this.views);
    this.views.clear();
    this.build();
    this.put();
    this.frame.translate();
    this.draw();
    if (!this.store.online && !this.store.model.saved) this.offline();
    else this.ignored(this.unused);
    putBack(this.element);
    this.entitle();
  }

  // Leave out what the link asks to be left out.
  hide(controls) {
    const { hide } = this.store.state;
    for (const [name, control] of Object.entries(controls)) change(control, { "data-hidden": hide.includes(name) });
  }

  // What can be changed is as in the beginning; what is looked at stays.
  reset() {
    const { unscale, at, misplaced, policy, run, scenario, mode } = this.codec.defaults;
    this.store.lessons.challenge = null;
    this.store.begin({ ...this.setup.beginning, unscale, at, misplaced, policy, run, scenario, mode });
  }

  resized() {
    const { width, unit } = this.size();
    if (width > 0 && (width !== this.drawn.width || unit !== this.drawn.unit)) this.draw();
  }

  // Of the chart that is shown.
  size() {
    const { element } = this.shown.chart;
    return { width: element.clientWidth, unit: parseFloat(getComputedStyle(element).fontSize) / 16 };
  }

  // The view that is shown. Each is built when it is first asked for.
  get shown() {
    return this.viewOf(this.store.state.view);
  }

  get window() {
    return this.viewOf("window");
  }

  get distribution() {
    return this.viewOf("distribution");
  }

  newView(name, store) {
    return new VIEWS[name](store, this.setup);
  }

  viewOf(name) {
    if (!this.views.has(name)) {
      const view = this.newView(name, this.store);
      // In another language it is the same view.
      if (this.former?.has(name)) view.follow?.(this.former.get(name));
      this.former?.delete(name);
      this.views.set(name, view);
      this.hide(view.controls());
      new ResizeObserver(() => this.resized()).observe(view.chart.element);
    }
    return this.views.get(name);
  }

  draw(keepAxis = false) {
    this.store.words.speak();
    this.store.lessons.follow(this.store.state);
    this.arrange();
    this.frame.fit(() => this.drawCharts(keepAxis));
  }

  // What the view waited for is here. If it was turned to, what it says is told, too.
  came() {
    this.draw();
    this.entitle();
    if (this.telling) this.tellSoon();
  }

  // Only the parts of the view that is shown are in the document; none of them while a prediction is still to be made.
  arrange() {
    const { state, lessons } = this.store, covered = lessons.covers(state), going = this.lesson.going;
    const arranged = [state.view, covered, going].join();
    if (this.arranged === arranged && this.columns.firstChild) return;
    this.arranged = arranged;
    change(this.element, { "data-view": state.view, "data-lesson": going });
    change(this.columns, { "data-covered": covered });
    if (covered) {
      write(this.live, "");
      this.columns.replaceChildren(this.lesson.element);
      return;
    }
    const { left, right, below } = this.shown;
    this.left.replaceChildren(...left);
    this.right.replaceChildren(...(going ? [this.lesson.element] : []), ...right);
    this.columns.replaceChildren(this.left, this.right, ...below);
  }

  drawCharts(keepAxis) {
    this.shown.reveal?.();
    this.drawn = this.size();
    if (this.drawn.width > 0) this.shown.draw({ ...this.drawn, layout: this.frame.layout }, keepAxis);
    this.show();
  }

  show() {
    const { state, words } = this.store;
    words.speak();
    this.shown.show(this.drawn.width > 0);
    this.view.show(state.view);
    this.formats.show(state.format);
    this.menu.show(state, words.language);
    this.lessonBar.show();
    this.lesson.show();
    this.frame.show(state);
    change(this.themed, { "data-theme": state.theme });
  }

  spoken() {
    return this.covered ? "" : this.shown.spoken();
  }

  get covered() {
    return this.store.lessons.covers(this.store.state);
  }

  changed(before, kind) {
    const { state, words } = this.store;
    if (before.language !== state.language) {
      words.turnTo(state.language);
      this.translate();
    } else if (Object.keys(state).some((name) => before[name] !== state[name] && !NOT_REDRAWN.includes(name))) this.draw(kind === "octave");
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
    const { lessons, state } = this.store;
    if (lessons.hidesWindow(state) && lessons.found(state, this.window.allSurvive())) this.draw();
    this.timeline.rest(this.store.state);
    this.entitle();
    this.frame.rested();
    this.shown.rested?.();
    if (!this.axisWaits) return;
    this.axisWaits = false;
    this.window.keepFocus(() => this.draw(), this.element.getRootNode().activeElement);
  }

  noted() {
    this.timeline.note(this.store.state);
  }

  entitle() {
    if (!this.isPage) return;
    const { words, state } = this.store;
    document.title = this.covered
      ? words.say("documentTitleCovered", { title: words.scenario(state.scenario, "title") })
      : words.say("documentTitle", { scale: this.shown.scaleText(), outcome: this.shown.title() });
  }

  // The consequence, said once the hand rests.
  tellSoon() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      write(this.live, this.spoken());
    }, QUIET);
  }

  taken(box, text) {
    this.window.list.taken(box, text);
  }

  problem(sentence, box = null) {
    this.window.list.show(sentence, box);
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
    this.unused = parts;
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
    if (!this.timeline.followed) return;
    const { hash } = location;
    const { state, unread } = this.codec.read(hash);
    this.timeline.adopt({ ...this.store.state, ...state }, unread.length > 0);
    this.goTo(hash);
  }

  // A link is with Python: what is shown is not yet what it stands for.
  reading(going) {
    change(this.element, { "data-reading": going });
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
