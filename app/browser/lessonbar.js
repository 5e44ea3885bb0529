// Which scenario the page is about, and how it is gone through.

import { Choice } from "./choices.js";
import { change, html } from "./dom.js";

export class LessonBar {
  constructor(store, page, { scenarios }) {
    const { words } = store;
    Object.assign(this, { store, page });
    const option = ({ id }, place) => html("option", { value: id }, `${place + 1}. ${words.scenario(id, "title", {})}`);
    const group = (key, homework) => html("optgroup", { label: words.say(key) },
      ...scenarios.map((each, place) => (each.homework === homework ? option(each, place) : null)).filter(Boolean));
    this.select = html("select", { id: "lse-scenario", class: "field", onchange: () => page.classroom.open(this.select.value) },
      html("option", { value: "" }, words.say("scenarioNone")), group("scenarioClass", false), group("scenarioHomework", true));
    this.mode = new Choice("mode", words.say("modeLegend"),
      ["play", "predict", "present"].map((value) => ({ value, label: words.say(`mode-${value}`) })), (mode) => store.act({ mode }));
    this.dare = html("button", { type: "button", class: "bar-button", onclick: () => page.classroom.dare() }, words.say("challengeMe"));
    this.print = html("button", { type: "button", class: "bar-button", onclick: () => page.classroom.print() }, words.say("printSheet"));
    this.question = html("p", { class: "lesson-line" });
    this.element = html("div", { class: "lesson-bar" },
      html("label", { for: "lse-scenario" }, words.say("scenarioLabel")), this.select, this.mode.element, this.question, this.dare, this.print);
  }

  show() {
    const { state, words } = this.store;
    const chosen = state.scenario !== "";
    this.select.value = state.scenario;
    this.mode.show(state.mode);
    change(this.mode.element, { "data-absent": !chosen });
    change(this.print, { "data-absent": !chosen });
    change(this.dare, { "data-absent": chosen || state.view !== "window" });
    this.question.textContent = chosen && state.mode === "play" ? words.scenario(state.scenario, "question", {}) : "";
  }
}
