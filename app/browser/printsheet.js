// A scenario on paper: the predictions on one page, the results on the next, in black on white.

import { html } from "./dom.js";

const LINES = 4;

export class PrintSheet {
  constructor(store) {
    this.store = store;
    this.element = html("div", { class: "print-sheet" });
  }

  // `given` is what the question is about; `outcome` what comes of it, with `picture`, the charts as SVG.
  fill(lesson, { given, outcome, picture }) {
    const { words } = this.store, answer = words.answer(lesson), text = (part) => words.scenario(lesson.id, part);
    const drawing = html("div", { class: "print-picture" });
    drawing.innerHTML = picture;
    const heading = () => [html("h2", {}, text("title")), html("p", { class: "print-question" }, text("question")), html("p", {}, words.say("lessonGiven", { given }))];
    this.element.replaceChildren(
      html("section", {}, ...heading(),
        html("ul", {}, ...lesson.predictions.map((id) => html("li", {}, html("span", { class: "tick-box" }), `${id.toUpperCase()}  ${text(id)}`))),
        html("p", {}, words.say("printWhy")), ...Array.from({ length: LINES }, () => html("div", { class: "write-line" }))),
      html("section", {}, ...heading(),
        html("ul", {}, ...lesson.predictions.map((id) => html("li", {},
          html("strong", {}, `${id === answer.right ? "✓" : "✗"} ${id.toUpperCase()}`), ` ${text(id)}`,
          id === answer.right ? null : html("p", { class: "print-why" }, answer[id])))),
        html("p", {}, answer.found), html("p", {}, words.say("lessonSeen", { outcome })), drawing,
        html("p", {}, html("strong", {}, words.say("lessonReflect")), ` ${answer.reflect}`),
        html("p", {}, html("strong", {}, words.say("lessonAnswer")), ` ${answer.answer}`)));
  }

  print() {
    const { element } = this.store.page;
    element.append(this.element);
    addEventListener("afterprint", () => this.element.remove(), { once: true });
    window.print();
  }
}
