// Which scenario the page is about, and how it is gone through.

import { Choice } from "./choices.js";
import { change, html, write } from "./dom.js";

export class LessonBar {
  constructor(store, page, { scenarios }) {
    const { words } = store;
    Object.assign(this, { store, page });
    const option = ({ id }, place) => html("option", { value: id }, `${place + 1}. ${words.scenario(id, "title")}`);
    const group = (key, homework) => html("optgroup", { label: words.say(key) },
      ...scenarios.map((each, place) => (each.homework === homework ? option(each, place) : null)).filter(Boolean));
    this.select = html("select", { id: "lse-scenario", class: "field", onchange: () => page.classroom.open(this.select.value) },
      html("option", { value: "" }, words.say("scenarioNone")), group("scenarioClass", false), group("scenarioHomework", true));
    this.mode = new Choice("mode", words.say("modeLegend"),
      ["play", "predict", "present"].map((value) => ({ value, label: words.say(`mode-${value}`) })), (mode) => store.act({ mode }));
    this.dare = html("button", { type: "button", class: "bar-button", onclick: () => page.classroom.dare() }, words.say("challengeMe"));
    this.print = html("button", { type: "button", class: "bar-button", onclick: () => this.makeSheet() }, words.say("printSheet"));
    this.question = html("p", { class: "lesson-line" });
    this.element = html("div", { class: "lesson-bar" },
      html("label", { for: "lse-scenario" }, words.say("scenarioLabel")), this.select, this.mode.element, this.question, this.dare, this.print);
  }

  // Its picture may need runs that are yet to be made.
  async makeSheet() {
    if (this.making) return;
    const { words } = this.store;
    this.making = true;
    write(this.print, words.say("runsGoing"));
    try {
      await this.page.classroom.print();
    } finally {
      this.making = false;
      write(this.print, words.say("printSheet"));
    }
  }

  show() {
    const { state, words, lessons } = this.store;
    const chosen = state.scenario !== "";
    this.select.value = state.scenario;
    this.mode.show(state.mode);
    change(this.mode.element, { "data-absent": !chosen });
    change(this.print, { "data-absent": !chosen });
    change(this.dare, { "data-absent": chosen || state.view !== "window" });
    // Over another view the question would speak of something that is not there.
    const asks = chosen && state.mode === "play" && !lessons.isElsewhere(state);
    this.question.textContent = asks ? words.scenario(state.scenario, "question") : "";
  }
}
