// Tables of a step as Python made them, one for each arrangement of the blocks: nothing here computes.

import { stepAt } from "./distributions.js";

// Everything in its place.
export const RIGHT = { at: "loss", unscale: "fp32", misplaced: [] };

export class OrderTable {
  constructor(text) {
    const { stages, ...rest } = JSON.parse(text);
    Object.assign(this, rest);
    this.stages = new Map(stages.map(({ name, steps }) => [name, steps]));
  }

  // The numbers of a stage at a notch, by their places, and what else it tells. `rows` is null where a step that
  // was skipped left the stage out; there is nothing where the order has no such stage.
  stage(name, k) {
    const steps = this.stages.get(name);
    if (!steps) return null;
    const [, rows, more = null] = stepAt(steps, k);
    return { rows, more };
  }

  result(k) {
    const [, verdict, ratio, log2, factor, lost, update] = stepAt(this.results, k);
    return { verdict, ratio, log2, factor, lost, update };
  }

  // A number for programs: all its digits, or inf and NaN by their names.
  exact(place) {
    return this.values[place] ?? this.texts[place];
  }
}

export class OrderTables {
  // `arrived` is called once what was asked for is here, or will not come.
  constructor(store, { orders, recorded }, arrived) {
    Object.assign(this, { store, arrived, names: Object.keys(orders.misplaced), recorded: recorded.steps ?? {} });
    this.kept = new Map();
    this.problems = new Map();
    this.asked = new Set();
  }

  key({ example, at, unscale, misplaced, format }) {
    return [example, at, unscale, this.names.filter((name) => misplaced.includes(name)).join("+"), format].join(" ");
  }

  get(arrangement) {
    const key = this.key(arrangement);
    if (!this.kept.has(key) && this.isRecorded(arrangement)) this.kept.set(key, new OrderTable(this.recorded[key]));
    return this.kept.get(key) ?? null;
  }

  isRecorded(arrangement) {
    return this.key(arrangement) in this.recorded;
  }

  problem(arrangement) {
    return this.problems.get(this.key(arrangement)) ?? "";
  }

  // Whether a table is on its way; it is asked for, where it is not here.
  awaits(arrangement) {
    const key = this.key(arrangement), { store } = this;
    if (this.get(arrangement) || this.problems.has(key) || !store.online) return false;
    if (this.asked.has(key)) return true;
    this.asked.add(key);
    store.question({ steps: arrangement }, {
      done: ({ steps, problem }) => {
        this.asked.delete(key);
        if (steps) this.kept.set(key, new OrderTable(steps));
        else if (store.online) this.problems.set(key, problem);
        this.arrived();
      },
    });
    return true;
  }
}
