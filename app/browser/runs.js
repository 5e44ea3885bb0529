// Training runs as Python made them: columns by steps, each run under what tells it from all others.

// Those that are shown side by side, and all that there are.
export const SHOWN_RUNS = ["fp32", "unscaled", "static", "dynamic"];
export const ALL_RUNS = ["fp32", "fp32_scaled", "unscaled", "static", "dynamic"];

const NARROW = ["lost", "lostOfAll", "windows"];

export class Runs {
  constructor(recorded) {
    this.kept = new Map(Object.entries(recorded));
    this.recorded = new Set(this.kept.keys());
  }

  key(name, { run, format, k, policy }) {
    const narrow = name.startsWith("fp32") ? "" : format;
    const scaler = { static: String(k), fp32_scaled: policy, dynamic: policy }[name] ?? "";
    return [name, narrow, scaler, run].join(" ");
  }

  get(name, state) {
    return this.kept.get(this.key(name, state)) ?? null;
  }

  isRecorded(name, state) {
    return this.recorded.has(this.key(name, state));
  }

  // The runs that are yet to be made.
  missing(state) {
    return ALL_RUNS.filter((name) => !this.get(name, state)?.end);
  }

  // Take those runs of others that are complete.
  adopt({ kept }) {
    for (const [key, run] of kept) if (run.end) this.kept.set(key, run);
  }

  // Begin runs anew: what there is of them was stopped.
  begin(names, state) {
    for (const name of names) this.kept.delete(this.key(name, state));
  }

  // Some more steps of a run.
  take({ run: name, first, ...part }, state) {
    const key = this.key(name, state), run = this.kept.get(key);
    this.kept.set(key, run && first > 1 ? joined(run, part) : part);
  }

  // The k of the static scales for which a run is here.
  staticScales(state) {
    const here = this.key("static", { ...state, k: "*" });
    const [before, after] = here.split("*");
    return [...this.kept.keys()].filter((key) => key.startsWith(before) && key.endsWith(after))
      .map((key) => Number(key.slice(before.length, key.length - after.length))).sort((a, b) => a - b);
  }
}

function joined(run, part) {
  const next = { ...run, loss: [...run.loss, ...part.loss], did: run.did + part.did, scales: [...run.scales, ...part.scales], end: part.end };
  for (const name of NARROW) {
    if (name in part) next[name] = name === "lost" ? run.lost.map((column, place) => [...column, ...part.lost[place]]) : [...run[name], ...part[name]];
  }
  return next;
}

// What a run shows at a step; null where it has not come so far, or ended before.
export function atStep(run, step) {
  if (!run || step > run.loss.length) return null;
  const [, log2, text] = run.scales.findLast(([from]) => from <= step);
  return {
    loss: run.loss[step - 1], did: run.did[step - 1], log2, text, lost: run.lostOfAll?.[step - 1] ?? 0,
    lostByTensor: run.lost?.map((column) => column[step - 1]), window: run.windows?.[step - 1] ?? null,
  };
}

// Finite and overflowing steps, as the letters that a pattern has.
export function patternOf(run) {
  return run.did.replaceAll("S", "F").replaceAll("K", "N").replaceAll("R", "N");
}
