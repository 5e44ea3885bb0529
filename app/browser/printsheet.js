// A scenario on paper: the predictions on one page, the results on the next, in black on white.

import { html } from "./dom.js";

const LINES = 4;

export class PrintSheet {
  constructor(store) {
    this.store = store;
    this.element = html("div", { class: "print-sheet" });
  }

  // `text` gives the scenario's texts with its numbers, `given` what it is about, `picture` the charts as SVG.
  fill(lesson, text, given, picture) {
    const { words } = this.store;
    const right = lesson.predictions.find(({ misconception }) => !misconception);
    const drawing = html("div", { class: "print-picture" });
    drawing.innerHTML = picture;
    const heading = () => [html("h2", {}, text("title")), html("p", { class: "print-question" }, text("question")), html("p", {}, words.say("lessonGiven", { given }))];
    this.element.replaceChildren(
      html("section", {}, ...heading(),
        html("ul", {}, ...lesson.predictions.map(({ id }) => html("li", {}, html("span", { class: "tick-box" }), `${id.toUpperCase()}  ${text(id)}`))),
        html("p", {}, words.say("printWhy")), ...Array.from({ length: LINES }, () => html("div", { class: "write-line" }))),
      html("section", {}, ...heading(),
        html("ul", {}, ...lesson.predictions.map(({ id, misconception }) => html("li", {},
          html("strong", {}, `${id === right.id ? "✓" : "✗"} ${id.toUpperCase()}`), ` ${text(id)}`,
          misconception ? html("p", { class: "print-why" }, words.misconception(misconception)) : null))),
        html("p", {}, text("found")), drawing,
        html("p", {}, html("strong", {}, words.say("lessonReflect")), ` ${text("reflect")}`),
        html("p", {}, html("strong", {}, words.say("lessonAnswer")), ` ${text("answer")}`)));
  }

  print() {
    const { element } = this.store.page;
    element.append(this.element);
    addEventListener("afterprint", () => this.element.remove(), { once: true });
    window.print();
  }
}
