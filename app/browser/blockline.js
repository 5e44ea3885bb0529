// The step as a line of blocks, each in the place where it is done, with a choice of where to put it.

import { Choice } from "./choices.js";
import { change, html, write } from "./dom.js";
import { BlockNumbers, CHOICES, chosen, does, isWrong, offered, sequence } from "./orderblocks.js";
import { RIGHT } from "./ordertables.js";
import { scaleEquation, short } from "./words.js";

const BLOCKS = ["loss", "scale", "backward", "store", "accumulate", "unscale", "check", "clip", "optimizer"];

export class BlockLine {
  constructor(store, put) {
    const { words } = store;
    Object.assign(this, { store, put });
    this.blocks = Object.fromEntries(BLOCKS.map((block) => [block, this.block(block)]));
    this.list = html("ol", { class: "blocks", "aria-label": words.say("blocksName") });
    this.title = html("h2", { id: "lse-blocks-title" });
    this.element = html("section", { class: "card blocks-card", "aria-labelledby": "lse-blocks-title" }, this.title, this.list);
  }

  block(block) {
    const { words } = this.store;
    const names = Object.keys(CHOICES).filter((name) => CHOICES[name].block === block);
    const choices = Object.fromEntries(names.map((name) => [name, new Choice(`block-${name}`, words.say(`choice-${name}`),
      CHOICES[name].values.map((value) => ({ value, label: "" })), (value) => this.put(name, value))]));
    const parts = {
      choices, name: html("h3", {}), does: html("p", { class: "does" }), wrong: html("p", { class: "out-of-place", "data-hidden": true }, `✕ ${words.say("outOfPlace")}`),
      mine: html("div", { class: "mine" }), right: html("div", { class: "right-numbers", "data-hidden": true }),
    };
    const element = html("li", { class: "block", "data-block": block }, parts.name, parts.does, parts.mine, parts.right, parts.wrong, ...names.map((name) => choices[name].element));
    return { ...parts, element };
  }

  // The blocks stand in the order in which they are done; the one that is being moved keeps the focus.
  draw({ order, example, format }) {
    const line = sequence(order, example);
    const focus = this.element.getRootNode().activeElement;
    const elements = line.map((block) => this.blocks[block].element);
    if (elements.some((element, index) => this.list.children[index] !== element) || elements.length !== this.list.children.length) {
      this.list.replaceChildren(...elements);
      if (focus && this.list.contains(focus)) focus.focus({ preventScroll: true });
    }
    for (const block of line) this.drawBlock(block, order, example, format);
  }

  drawBlock(block, order, example, format) {
    const { words } = this.store, parts = this.blocks[block], names = Object.keys(parts.choices);
    write(parts.name, words.say(`block-${block}`, { format }));
    write(parts.does, does(block, order, example, words, format));
    const wrong = names.some((name) => isWrong(name, order));
    change(parts.element, { "data-wrong": wrong });
    change(parts.wrong, { "data-hidden": !wrong });
    for (const name of names) {
      const { element, inputs } = parts.choices[name];
      change(element, { "data-hidden": !offered(name, order, example) });
      for (const { value, label } of inputs) write(label.lastChild, words.say(`place-${name}-${value}`, { format }));
      parts.choices[name].show(chosen(name, order));
    }
  }

  show({ order, example, mine, right }) {
    const { words, state, lookups } = this.store;
    write(this.title, words.say("blocksTitle", { scale: scaleEquation({ ...state, scale: null }, lookups, words) }));
    const yours = new BlockNumbers({ table: mine, order }, state.k, example, words, short);
    const should = new BlockNumbers({ table: right, order: RIGHT }, state.k, example, words, short);
    for (const block of sequence(order, example)) {
      const parts = this.blocks[block], made = yours.of(block), meant = should.of(block, order);
      const differs = Boolean(mine && right) && made.exact !== meant.exact;
      fill(parts.mine, made.lines);
      change(parts.element, { "data-differs": differs });
      change(parts.right, { "data-hidden": !differs });
      const [first = "", ...others] = meant.lines;
      fill(parts.right, differs ? [`≠ ${words.say("rightNumbers", { numbers: first })}`, ...others] : []);
    }
  }
}

// Lines of text, of which only those that differ are set anew.
function fill(element, lines) {
  while (element.children.length > lines.length) element.lastChild.remove();
  while (element.children.length < lines.length) element.append(html("p", {}));
  lines.forEach((line, index) => write(element.children[index], line));
}
