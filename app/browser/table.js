// The same in numbers: the text equivalent of the charts, in step with them.

import { change, html, write } from "./dom.js";
import { OUTCOMES } from "./lookup.js";
import { errorText } from "./journey.js";
import { sign } from "./marks.js";
import { equation, pretty, scaleEquation } from "./words.js";

const COLUMNS = ["gradient", "scaled", "stored", "bits", "recovered", "error", "outcome"];

export class NumbersTable {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.caption = html("caption", {});
    // Roles are spelled out, since a table laid out as cards on a phone would lose them.
    const heads = COLUMNS.map((name) => html("th", { scope: "col", role: "columnheader" }, words.say(`column-${name}`)));
    this.body = html("tbody", { role: "rowgroup" });
    this.element = html("section", { class: "card numbers", "aria-labelledby": "lse-numbers-title" },
      html("h2", { id: "lse-numbers-title" }, words.say("numbersTitle")),
      html("table", { role: "table" }, this.caption, html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, ...heads)), this.body));
  }

  show() {
    const { state, lookups, words } = this.store;
    write(this.caption, words.say("numbersCaption", {
      format: lookups.formats[state.format].label, scale: scaleEquation(state, lookups, words),
    }));
    while (this.body.children.length > state.gradients.length) this.body.lastChild.remove();
    while (this.body.children.length < state.gradients.length) {
      this.body.append(html("tr", { role: "row" }, ...COLUMNS.map((name) =>
        html(name === "gradient" ? "th" : "td", { scope: name === "gradient" ? "row" : null, role: name === "gradient" ? "rowheader" : "cell", class: `cell-${name}`, "data-label": words.say(`column-${name}`) }))));
    }
    state.gradients.forEach((gradient, index) => {
      const row = lookups.row(gradient, state);
      const cells = [
        pretty(lookups.name(gradient)), equation(row.scaled), equation(row.stored), row.bits, equation(row.recovered),
        errorText(row.error, words), `${sign(row.outcome)} ${words.say(`outcome-${OUTCOMES[row.outcome]}`)}`,
      ];
      const line = this.body.children[index];
      change(line, { "data-outcome": OUTCOMES[row.outcome] });
      cells.forEach((text, column) => write(line.children[column], text));
    });
  }
}
