// Every step of a run in numbers, made once somebody looks.

import { Choice } from "./choices.js";
import { html } from "./dom.js";
import { SHOWN_RUNS, atStep } from "./runs.js";
import { windowText } from "./runtable.js";
import { power, pretty } from "./words.js";

const COLUMNS = ["step", "loss", "scale", "action", "lost", "window"];

export class StepTable {
  constructor(store) {
    const { words, state } = store;
    this.store = store;
    this.name = "dynamic";
    this.choice = new Choice("steps-run", words.say("stepsRun"), SHOWN_RUNS.map((value) => ({ value, label: words.say(`run-${value}`, { scale: power(state.k) }) })),
      (name) => { this.name = name; this.fill(); });
    this.body = html("tbody");
    this.element = html("section", { class: "card numbers steps-card" }, html("details", { ontoggle: () => this.fill() },
      html("summary", {}, html("h2", {}, words.say("stepsTitle"))), this.choice.element,
      html("div", { class: "table-room", tabindex: 0, role: "region", "aria-label": words.say("stepsTitle") },
        html("table", {}, html("caption", { class: "unseen" }, words.say("stepsCaption")),
          html("thead", {}, html("tr", {}, ...COLUMNS.map((name) => html("th", { scope: "col" }, words.say(`steps-${name}`))))), this.body))));
  }

  show(runs) {
    this.runs = runs;
    this.fill();
  }

  fill() {
    const { words } = this.store;
    this.choice.show(this.name);
    if (!this.element.firstChild.open || !this.runs) return;
    const run = this.runs[this.name];
    if (this.filled === run) return;
    this.filled = run;
    const rows = run ? run.loss.map((_, index) => this.row(run, index + 1, words)) : [];
    this.body.replaceChildren(...rows);
  }

  row(run, step, words) {
    const here = atStep(run, step);
    const cells = [
      words.measured(here.loss), pretty(here.text), words.say(`action-${here.did}`),
      words.percent(here.lost), run.windows ? windowText(here.window, this.store) : "",
    ];
    return html("tr", {}, html("th", { scope: "row" }, String(step)), ...cells.map((text, place) => html("td", { class: "number", "data-label": words.say(`steps-${COLUMNS[place + 1]}`) }, text)));
  }
}
