// The blocks of a step: in which order they are done, what each does, and what it makes of the numbers.

import { pretty } from "./words.js";

const STAGES = { loss: "gradient", store: "stored", accumulate: "accumulated", unscale: "unscaled", check: "checked", clip: "clipped", optimizer: "updated" };

// What can be chosen at a block. The words of a link name a state's part, or something in its list of the misplaced.
export const CHOICES = {
  average: { block: "loss", values: ["right", "wrong"] },
  at: { block: "scale", values: ["loss", "late"] },
  accumulate: { block: "accumulate", values: ["right", "wrong"] },
  update: { block: "accumulate", values: ["right", "wrong"] },
  unscale: { block: "unscale", values: ["fp32", "fp16", "never"] },
  check: { block: "check", values: ["right", "wrong"] },
  clip: { block: "clip", values: ["right", "wrong"] },
  weights: { block: "optimizer", values: ["right", "wrong"] },
};

export const chosen = (name, order) => order[name] ?? (order.misplaced.includes(name) ? "wrong" : "right");
export const isWrong = (name, order) => chosen(name, order) !== CHOICES[name].values[0];
export const wrongOnes = (order) => Object.keys(CHOICES).filter((name) => isWrong(name, order));

// A choice that would change nothing in an example is left out, unless it has been made.
export const offered = (name, order, example) => example.inPlay.includes(name) || isWrong(name, order);

// The blocks in the order in which they are done; those with nothing to do are left out.
export function sequence(order, example) {
  const wrong = wrongOnes(order);
  const checks = wrong.includes("check") ? ["clip", "check"] : ["check", "clip"];
  const front = wrong.includes("at") ? ["loss", "backward", "store", "scale"] : ["loss", "scale", "backward", "store"];
  const clipsEarly = example.clip && wrong.includes("clip");
  const rest = clipsEarly ? [...checks, "unscale"] : ["unscale", ...(example.clip ? checks : ["check", "clip"])];
  const idle = {
    accumulate: example.gradients.length === 1 && !wrong.includes("accumulate") && !wrong.includes("update"),
    clip: !example.clip && !wrong.includes("clip"),
  };
  return [...front, "accumulate", ...rest, "optimizer"].filter((block) => !idle[block]);
}

export function does(block, order, example, words, format) {
  const wrong = wrongOnes(order), late = wrong.includes("at");
  const key = {
    loss: example.shares.length ? (wrong.includes("average") ? "lossMeans" : "lossMean") : "loss",
    scale: late ? "scaleLate" : "scale",
    backward: late ? "backwardLate" : "backward",
    accumulate: wrong.includes("accumulate") ? "accumulateStored" : "accumulate",
    unscale: { fp32: "unscale", fp16: "unscaleStored", never: "unscaleNever" }[order.unscale],
    clip: { norm: "clipNorm", value: "clipValue" }[example.clip?.by] ?? "clipNothing",
    optimizer: wrong.includes("weights") ? "optimizerStored" : "optimizer",
  }[block] ?? block;
  return words.say(`does-${key}`, { format, rate: pretty(example.rate), limit: pretty(example.clip?.limit ?? "") });
}

// What a block makes of the numbers of one side, yours or the right one: lines for people, and what tells whether
// two sides differ.
export class BlockNumbers {
  constructor(side, k, example, words, spell) {
    Object.assign(this, { ...side, k, example, words, spell });
  }

  // Where yours multiplies what is stored, its products are beside the right ones.
  of(block, beside = this.order) {
    if (!this.table) return { lines: [], exact: "" };
    if (block === "scale" && beside.at !== "late") return this.scales();
    if (block === "optimizer") return this.step();
    const name = block === "scale" ? "scaled" : block === "backward" ? (this.order.at === "late" ? "gradient" : "scaled") : STAGES[block];
    const stage = this.table.stage(name, this.k);
    if (!stage) return { lines: [], exact: "" };
    if (!stage.rows) return { lines: [this.words.say("leftOut")], exact: "left out" };
    if (block === "check") return { lines: [this.words.say(stage.more ? "foundInf" : "allFinite")], exact: String(stage.more) };
    const lines = [...this.numbered(stage.rows.map((row, index) => this.line(block, row, index))), ...this.norm(block, stage.more)];
    return { lines, exact: JSON.stringify(stage.rows.map((row) => row.map((place) => this.table.exact(place)))) };
  }

  line(block, row, index) {
    const { example, words, order } = this;
    if (block !== "loss" || !example.shares.length) return this.numbers(row);
    const share = (order.misplaced.includes("average") ? example.sharesAlike : example.shares)[index];
    return words.say("shareOf", { gradient: this.list(example.gradients[index]), share, part: this.numbers(row) });
  }

  norm(block, more) {
    if (block !== "clip" || !more) return [];
    const [norm, factor] = more.map((place) => this.spell(this.table.texts[place]));
    return [this.words.say(factor === "1" ? "normKept" : "normCut", { norm, factor })];
  }

  scales() {
    const { more } = this.table.stage("scaled", this.k);
    const distinct = new Set(more).size > 1 ? more : more.slice(0, 1);
    return { lines: this.numbered(distinct.map((exponent) => this.words.say("scaleOf", { power: this.spell(`2^${exponent}`) }))), exact: String(more) };
  }

  step() {
    const { table, words, example, k } = this;
    const { verdict, update } = table.result(k);
    if (verdict === "skipped") return { lines: [words.say("weightsStay")], exact: "skipped" };
    const after = table.stage("updated", k).rows[0];
    const moves = example.weights.map((before, index) => words.say("weightMoves", { before: this.spell(before), after: this.spell(table.texts[after[index]]) }));
    return { lines: [...moves, words.say("fallsBy", { numbers: this.numbers(update) })], exact: JSON.stringify(update.map((place) => table.exact(place))) };
  }

  numbered(lines) {
    return lines.length === 1 ? lines : lines.map((numbers, index) => this.words.say("numbered", { index: index + 1, numbers }));
  }

  numbers(places) {
    return this.list(places.map((place) => this.table.texts[place]));
  }

  list(texts) {
    return listed(texts, this.words, this.spell);
  }
}

// Numbers of the weights; many that are alike are told once.
export function listed(texts, words, spell) {
  const alike = texts.length > 2 && new Set(texts).size === 1;
  return alike ? words.say("allAlike", { n: texts.length, value: spell(texts[0]) }) : texts.map(spell).join(words.separator);
}

// Stretches of k as powers of two: 2⁰ … 2¹², 2²⁰.
export function stretches(same, words, power) {
  return words.list(same.map(([first, last]) => (first === last ? power(first) : words.say("orderStretch", { first: power(first), last: power(last) }))));
}
