// Autocast on or off, scaling on or off: four real runs.

import { html, write } from "./dom.js";

// Rows and columns of the table, by the names of the runs.
const CELLS = [["fp32", "fp32_scaled"], ["unscaled", "dynamic"]];
const SCALING = ["scalingOff", "scalingOn"];

export class AutocastCard {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.cells = new Map();
    // Roles are spelled out, since a table laid out as cards on a phone would lose them.
    const cell = (name, place) => {
      const element = html("td", { role: "cell", "data-run": name, "data-label": words.say(SCALING[place]) });
      this.cells.set(name, element);
      return element;
    };
    const head = (text) => html("th", { scope: "row", role: "rowheader" }, text);
    const rows = CELLS.map((names, place) => html("tr", { role: "row" }, head(words.say(place ? "autocastOn" : "autocastOff")), ...names.map(cell)));
    this.same = html("p", {});
    this.element = html("section", { class: "card autocast-card", "aria-labelledby": "lse-autocast-title" },
      html("h2", { id: "lse-autocast-title" }, words.say("autocastTitle")),
      html("p", { class: "quiet" }, words.say("autocastLine")),
      html("table", { class: "autocast", role: "table" }, html("caption", { class: "unseen" }, words.say("autocastCaption")),
        html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, html("td", { role: "cell" }),
          ...SCALING.map((key) => html("th", { scope: "col", role: "columnheader" }, words.say(key))))),
        html("tbody", { role: "rowgroup" }, ...rows)), this.same);
  }

  show(runs) {
    const { words } = this.store;
    for (const [name, cell] of this.cells) {
      const end = runs[name]?.end;
      const parts = !end ? [words.say("runGoing")] : [
        html("strong", {}, words.say("cellLoss", { loss: words.measured(end.loss) })),
        html("span", {}, words.say("cellLost", { lost: words.percent(end.lost) })),
      ];
      cell.replaceChildren(...parts);
    }
    const [off, on] = CELLS[0].map((name) => runs[name]);
    const same = off?.end && on?.end && off.end.weights === on.end.weights;
    write(this.same, same ? words.say("autocastSame") : "");
  }
}
