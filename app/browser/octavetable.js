// The histogram in numbers, folded away until it is asked for.

import { change, html, write } from "./dom.js";
import { power, pretty } from "./words.js";

const COLUMNS = ["range", "share", "count"];

export class OctaveTable {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.body = html("tbody", {});
    const heads = COLUMNS.map((name) => html("th", { scope: "col" }, words.say(`octave-${name}`)));
    this.element = html("details", { class: "card octaves" }, html("summary", {}, words.say("octavesTitle")),
      html("table", { class: "plain" }, html("caption", { class: "unseen" }, words.say("octavesTitle")), html("thead", {}, html("tr", {}, ...heads)), this.body));
  }

  draw({ octaves: { first, counts, shares } }) {
    const { words } = this.store;
    change(this.element, { "data-hidden": counts.length === 0 });
    this.body.replaceChildren(...counts.map((count, index) => html("tr", {},
      html("th", { scope: "row" }, `${power(first + index)} … ${power(first + index + 1)}`),
      write(html("td", { class: "number" }), pretty(shares[index])),
      write(html("td", { class: "number" }), words.number(count)))));
  }
}
