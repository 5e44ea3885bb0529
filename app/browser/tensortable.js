// Tensor by tensor: which one loses, and which one forces the scale down. Sorted by any column.

import { stepAt } from "./distributions.js";
import { change, html, write } from "./dom.js";
import { power, pretty } from "./words.js";

// More rows than this no one reads; the order says which they are.
const MOST_ROWS = 300;

const COLUMNS = {
  name: { text: (tensor) => tensor.name, order: (tensor) => tensor.name },
  size: { text: (tensor, step, words) => words.number(tensor.size), order: (tensor) => tensor.size },
  smallest: { text: (tensor) => pretty(tensor.smallest.text), order: (tensor) => tensor.smallest.log2 ?? Infinity },
  largest: { text: (tensor) => pretty(tensor.largest.text), order: (tensor) => tensor.largest.log2 ?? -Infinity },
  lost: { text: (tensor, step) => pretty(step[3]), order: (tensor, step) => step[1] / Math.max(1, tensor.size) },
  over: { text: (tensor, step, words) => words.number(step[2]), order: (tensor, step) => step[2] },
  powers: {
    text: (tensor, step, words, { powers }) => (powers ? (powers[0] === powers[1] ? power(powers[0]) : `${power(powers[0])} … ${power(powers[1])}`) : "–"),
    order: (tensor, step, { powers }) => powers?.[1] ?? Infinity,
  },
};

export class TensorTable {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.by = "name";
    this.down = false;
    this.heads = Object.fromEntries(Object.keys(COLUMNS).map((name) => [name,
      html("th", { scope: "col", role: "columnheader" }, html("button", { type: "button", onclick: () => this.sortBy(name) }, words.say(`tensor-${name}`)))]));
    this.body = html("tbody", { role: "rowgroup" });
    this.caption = html("caption", {});
    this.element = html("section", { class: "card tensors", "aria-labelledby": "lse-tensors-title" },
      html("h2", { id: "lse-tensors-title" }, words.say("tensorsTitle")),
      html("div", { class: "table-room", tabindex: 0, role: "group", "aria-labelledby": "lse-tensors-title" },
        html("table", { role: "table" }, this.caption, html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, ...Object.values(this.heads))), this.body)));
  }

  sortBy(name) {
    this.down = name === this.by ? !this.down : name !== "name" && name !== "smallest" && name !== "powers";
    this.by = name;
    this.order = null;
    this.show(this.data);
  }

  // While the scale moves the rows stay where they are, and their numbers change.
  show(data) {
    const { state, words } = this.store;
    change(this.element, { "data-hidden": data.tensors.length < 2 });
    if (data.tensors.length < 2) return;
    const steps = (tensor) => stepAt(tensor.formats[state.format].steps, state.k);
    if (data !== this.data || !this.order) {
      this.data = data;
      const { order } = COLUMNS[this.by];
      const keyed = data.tensors.map((tensor) => ({ tensor, key: order(tensor, steps(tensor), tensor.formats[state.format]) }));
      keyed.sort((a, b) => (typeof a.key === "string" ? a.key.localeCompare(b.key, undefined, { numeric: true }) : a.key - b.key) * (this.down ? -1 : 1));
      this.order = keyed.slice(0, MOST_ROWS).map(({ tensor }) => tensor);
      this.layOut();
    }
    write(this.caption, words.say(data.tensors.length > MOST_ROWS ? "tensorsSome" : "tensorsAll", {
      shown: MOST_ROWS, tensors: words.number(data.tensors.length), scale: power(state.k),
    }));
    this.order.forEach((tensor, index) => {
      const step = steps(tensor), line = this.body.children[index];
      change(line, { "data-outcome": step[2] ? "overflow" : step[1] ? "underflow" : "normal" });
      Object.values(COLUMNS).forEach(({ text }, column) => write(line.children[column], text(tensor, step, words, tensor.formats[state.format])));
    });
  }

  layOut() {
    const { words } = this.store;
    for (const [name, head] of Object.entries(this.heads)) {
      change(head, { "aria-sort": name === this.by ? (this.down ? "descending" : "ascending") : null });
    }
    this.body.replaceChildren(...this.order.map(() => html("tr", { role: "row" }, ...Object.keys(COLUMNS).map((name) =>
      html(name === "name" ? "th" : "td", { scope: name === "name" ? "row" : null, role: name === "name" ? "rowheader" : "cell", class: `cell-${name}`, "data-label": words.say(`tensor-${name}`) })))));
  }
}
