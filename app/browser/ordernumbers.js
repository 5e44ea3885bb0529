// The same step in numbers: the text equivalent of the blocks and of the chart.

import { change, html, write } from "./dom.js";
import { BlockNumbers, does, listed, sequence } from "./orderblocks.js";
import { RIGHT } from "./ordertables.js";
import { equation, pretty, scaleEquation } from "./words.js";

const COLUMNS = ["block", "does", "mine", "right"];

export class OrderNumbers {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.caption = html("caption", {});
    // Roles are spelled out, since a table laid out as cards on a phone would lose them.
    const heads = COLUMNS.map((name) => html("th", { scope: "col", role: "columnheader" }, words.say(`orderColumn-${name}`)));
    this.body = html("tbody", { role: "rowgroup" });
    this.element = html("section", { class: "card numbers order-numbers", "aria-labelledby": "lse-order-numbers-title" },
      html("h2", { id: "lse-order-numbers-title" }, words.say("numbersTitle")),
      html("table", { role: "table" }, this.caption, html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, ...heads)), this.body));
  }

  show(shown) {
    const { state, lookups, words } = this.store;
    change(this.element, { "data-hidden": !shown.mine });
    if (!shown.mine) return;
    write(this.caption, words.say("orderTableCaption", { format: shown.format, scale: scaleEquation({ ...state, scale: null }, lookups, words) }));
    const rows = [...this.blocks(shown), ...this.results(shown)];
    while (this.body.children.length > rows.length) this.body.lastChild.remove();
    while (this.body.children.length < rows.length) this.body.append(this.row());
    rows.forEach(({ cells, differs }, index) => {
      const line = this.body.children[index];
      change(line, { "data-differs": differs });
      cells.forEach((text, column) => write(line.children[column], text));
    });
  }

  row() {
    const { words } = this.store;
    return html("tr", { role: "row" }, ...COLUMNS.map((name) =>
      html(name === "block" ? "th" : "td", { scope: name === "block" ? "row" : null, role: name === "block" ? "rowheader" : "cell", "data-label": words.say(`orderColumn-${name}`) })));
  }

  blocks({ order, example, format, mine, right }) {
    const { state: { k }, words } = this.store;
    const yours = new BlockNumbers({ table: mine, order }, k, example, words, equation);
    const should = new BlockNumbers({ table: right, order: RIGHT }, k, example, words, equation);
    return sequence(order, example).map((block) => {
      const made = yours.of(block), meant = should.of(block, order);
      return this.compared([words.say(`block-${block}`, { format }), does(block, order, example, words, format)], made, meant, right);
    });
  }

  // The update and its length, each beside the one it should be.
  results({ mine, right }) {
    const { state: { k }, words } = this.store;
    const [yours, should] = [mine, right].map((table) => table && { table, ...table.result(k) });
    const update = (side) => ({ lines: side ? [listed(side.update.map((place) => side.table.texts[place]), words, equation)] : [], exact: side ? JSON.stringify(side.update.map((place) => side.table.exact(place))) : "" });
    const ratio = (side) => ({ lines: side ? [pretty(side.ratio)] : [], exact: side?.ratio ?? "" });
    return [
      this.compared([words.say("orderUpdate"), words.say("orderUpdateIs")], update(yours), update(should), right),
      this.compared([words.say("orderRatio"), words.say("orderRatioIs")], ratio(yours), ratio(should), right),
    ];
  }

  compared(heads, made, meant, right) {
    const differs = Boolean(right) && made.exact !== meant.exact;
    const lines = made.lines.join("; ") || "–";
    return { cells: [...heads, differs ? `≠ ${lines}` : lines, meant.lines.join("; ") || "–"], differs };
  }
}
