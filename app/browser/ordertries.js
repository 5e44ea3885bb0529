// Steps to try, each with a question, and what the step that is shown consists of.

import { change, html, write } from "./dom.js";
import { listed, wrongOnes } from "./orderblocks.js";
import { RIGHT } from "./ordertables.js";
import { pretty, short } from "./words.js";

export class OrderTries {
  constructor(store, examples) {
    const { words } = store;
    Object.assign(this, { store, examples });
    this.buttons = Object.entries(examples).map(([id, { opens }]) => ({
      id, button: html("button", { type: "button", "data-id": id, onclick: () => store.act({ example: id, ...opens, scale: null, scenario: "", mode: "play" }) }),
    }));
    this.note = html("p", { class: "data-note" });
    this.right = html("button", { type: "button", class: "put-right", onclick: () => this.putRight() }, words.say("putRight"));
    this.element = html("section", { class: "card try order-tries", "aria-labelledby": "lse-examples-title" },
      html("h2", { id: "lse-examples-title" }, words.say("examplesTitle")),
      html("ul", {}, ...this.buttons.map(({ button }) => html("li", {}, button))), this.note, html("div", {}, this.right));
  }

  // The button goes once it has done its work, so the focus goes to the step it was done to.
  putRight() {
    const { store } = this;
    store.act({ ...RIGHT });
    this.buttons.find(({ id }) => id === store.state.example).button.focus({ preventScroll: true });
  }

  // What the step of a state consists of.
  given({ example }) {
    const { words } = this.store;
    return words.list(parts(this.examples[example], words));
  }

  show() {
    const { state, words, lookups } = this.store;
    const format = lookups.formats[state.format].label;
    for (const { id, button } of this.buttons) {
      write(button, words.say(`example-${id}`, { format }));
      change(button, { "aria-pressed": id === state.example ? "true" : "false" });
    }
    write(this.note, words.say("exampleIs", { parts: this.given(state) }));
    change(this.right, { "data-hidden": wrongOnes(state).length === 0 });
  }
}

function parts({ gradients, weights, tokens, summed, clip, rate }, words) {
  const numbers = (texts) => listed(texts, words, short);
  return [
    gradients.length === 1
      ? words.say("exampleGradient", { n: gradients[0].length, values: numbers(gradients[0]) })
      : words.say("exampleBatches", { values: words.list(gradients.map(numbers)) }),
    summed ? words.say("exampleSummed") : "",
    tokens.length ? words.say("exampleTokens", { values: words.list(tokens.map(String)) }) : "",
    weights.length ? words.say("exampleWeights", { n: weights.length, values: numbers(weights) }) : "",
    clip ? words.say(clip.by === "norm" ? "exampleClipNorm" : "exampleClipValue", { limit: pretty(clip.limit) }) : "",
    words.say("exampleRate", { rate: pretty(rate) }),
  ].filter(Boolean);
}
