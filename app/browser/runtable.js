// What came of the runs: one sentence, the runs side by side, and what each shows at the step that is looked at.

import { change, html, write } from "./dom.js";
import { OVERFLOW, UNDERFLOW } from "./lookup.js";
import { sign } from "./marks.js";
import { recordedMark } from "./recordedmark.js";
import { SHOWN_RUNS, atStep } from "./runs.js";
import { power, pretty } from "./words.js";

const COLUMNS = ["run", "loss", "accuracy", "lost", "skipped"];

// As many skipped steps in a row are named; then there are too many to read.
const MOST_ROWS = 5;

// A loss that is so much larger than in FP32 is worse than chance makes it.
export const CLEARLY_WORSE = 1.5;

export class RunTable {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.title = html("h2", { class: "outcome-title" });
    this.lines = html("div", { class: "outcome-lines" });
    this.recorded = recordedMark(words, words.say("runsRecorded"));
    // Roles are spelled out, since a table laid out as cards on a phone would lose them.
    this.rows = SHOWN_RUNS.map((name) => {
      const head = html("th", { scope: "row", role: "rowheader", class: `run-name ${name}` });
      const cells = COLUMNS.slice(1).map((column) => html("td", { class: `number ${column}`, role: "cell", "data-label": words.say(`runs-${column}`) }));
      return { name, head, cells, line: html("tr", { role: "row", "data-run": name }, head, ...cells) };
    });
    const heads = COLUMNS.map((name) => html("th", { scope: "col", role: "columnheader", class: name }, words.say(`runs-${name}`)));
    this.table = html("table", { class: "run-table", role: "table" }, html("caption", { class: "unseen" }, words.say("runsCaption")),
      html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, ...heads)), html("tbody", { role: "rowgroup" }, ...this.rows.map(({ line }) => line)));
    this.element = html("section", { class: "card outcome runs-card", "aria-label": words.say("outcomeName") }, this.title, this.lines, this.table, this.recorded);
  }

  show(runs, going, recorded) {
    const { words, state } = this.store;
    const { title, lines, mood } = verdict(runs, this.store, going);
    change(this.element, { "data-mood": mood });
    write(this.title, title);
    this.lines.replaceChildren(...lines.map((line) => html("p", {}, line)));
    change(this.recorded, { "data-hidden": !recorded });
    for (const { name, head, cells } of this.rows) {
      const end = runs[name]?.end;
      write(head, words.say(`run-${name}`, { scale: power(state.k) }));
      const texts = end ? [words.measured(end.loss), words.percent(end.accuracy), words.percent(end.lost), words.number(end.skipped)] : ["…", "", "", ""];
      cells.forEach((cell, place) => write(cell, texts[place]));
    }
  }
}

// Title, lines and mood of runs that may still be going on, or be missing.
export function verdict(runs, { words, state }, going) {
  const [fp32, unscaled, fixed, dynamic] = SHOWN_RUNS.map((name) => runs[name]?.end);
  if (!fp32 || !unscaled) return { title: words.say(going ? "runsGoing" : "runsNotMade"), lines: [], mood: "none" };
  const worse = unscaled.ending || unscaled.loss > CLEARLY_WORSE * fp32.loss;
  const values = { lost: words.percent(unscaled.lost), loss: words.measured(unscaled.loss), right: words.measured(fp32.loss) };
  const title = unscaled.ending ? `${sign(OVERFLOW)} ${words.say("unscaledEnds", { step: words.number(unscaled.steps) })}`
    : worse ? `${sign(UNDERFLOW)} ${words.say("unscaledWorse", values)}` : `✓ ${words.say("unscaledAsGood", values)}`;
  const lines = [
    fixed && runLine("static", runs.static, fp32, { words, scale: power(state.k) }),
    dynamic && runLine("dynamic", runs.dynamic, fp32, { words, scale: "" }),
    ...SHOWN_RUNS.flatMap((name) => (runs[name]?.end?.ending ? [endingLine(name, runs[name].end, words, power(state.k))] : [])),
  ].filter(Boolean);
  return { title, lines, mood: unscaled.ending ? "overflow" : worse ? "underflow" : "normal" };
}

function runLine(name, run, fp32, { words, scale }) {
  const { end } = run;
  if (end.ending) return null;
  const stuck = stuckLine(name, run, { words, scale });
  if (stuck) return stuck;
  const values = { scale, loss: words.measured(end.loss), right: words.measured(fp32.loss), lost: words.percent(end.lost), n: end.skipped, skipped: words.number(end.skipped) };
  // Where FP32 broke down there is nothing to be as good as.
  const asGood = !fp32.ending && end.loss !== null && end.loss <= CLEARLY_WORSE * fp32.loss;
  return words.say(asGood ? `${name}AsGood` : `${name}Worse`, values);
}

// Where a run comes to a point from which nothing more is learned.
function stuckLine(name, { end, did, scales, loss }, { words, scale }) {
  if (end.skipped === end.steps) return words.say(name === "static" ? "staticNever" : "dynamicNever", { scale });
  const learned = did.lastIndexOf("S") + 1;
  // A loss that is no number, again and again: no scale gets past that.
  if (loss.at(-1) !== null || end.steps - learned < 2) return null;
  return words.say(`${name}Stuck`, { scale, step: words.number(learned + 1), last: pretty(scales.at(-1)[2]) });
}

// What the scaler of a run did, for a reader who asked after it.
export function runText(name, run, { words, state }) {
  const { end } = run, scale = power(state.k);
  if (end.ending) return endingLine(name, end, words, scale);
  const values = { n: end.skipped, skipped: words.number(end.skipped), steps: words.number(end.steps) };
  return stuckLine(name, run, { words, scale })
    ?? (end.skipped ? words.say(`${name}Skips`, { ...values, which: skippedSteps(run, words) }) : words.say(`${name}SkipsNone`, values));
}

// Such as 1–4, 30, 73, …: those in a row together, and the first of them only.
function skippedSteps({ did }, words) {
  const rows = [...did.matchAll(/K+/g)].map(({ index, 0: { length } }) => [index + 1, index + length]);
  const named = rows.slice(0, MOST_ROWS).map((row) => [...new Set(row)].map((step) => words.number(step)).join("–"));
  return [...named, ...(rows.length > MOST_ROWS ? ["…"] : [])].join(", ");
}

function endingLine(name, end, words, scale) {
  return words.say("runEnds", { run: words.say(`run-${name}`, { scale }), step: words.number(end.steps), why: words.say(`ending-${end.ending}`) });
}

// The step that is looked at, in the words of each run.
export class StepCard {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.title = html("h2", { id: "lse-step-title" });
    this.rows = SHOWN_RUNS.map((name) => {
      const term = html("dt", { class: `run-name ${name}` }), value = html("dd", {});
      return { name, term, value };
    });
    this.element = html("section", { class: "card step-card", "aria-labelledby": "lse-step-title" }, this.title,
      html("dl", {}, ...this.rows.flatMap(({ term, value }) => [term, value])),
      html("p", { class: "quiet" }, words.say("stepHint")));
  }

  show(runs, step) {
    const { words, state } = this.store;
    write(this.title, words.say("stepTitle", { step: words.number(step) }));
    for (const { name, term, value } of this.rows) {
      write(term, words.say(`run-${name}`, { scale: power(state.k) }));
      write(value, stepText(name, runs[name], step, this.store));
    }
  }
}

export function windowText(window, { words, state, lookups }) {
  if (!window || window.length < 4) return words.say("stepNoWindow");
  const [, , first, last] = window;
  if (first === null) return words.say("windowEverything");
  if (typeof first === "number") return words.say("stepWindow", { first: power(first), last: power(last) });
  const ends = words.say(lookups.formats[state.format].upperClosed ? "windowEndsClosed" : "windowEnds", { above: pretty(first), below: pretty(last) });
  return `${ends} · ${words.say("windowPowerless")}`;
}

export function stepText(name, run, step, store) {
  const { words } = store;
  const here = atStep(run, step);
  if (!here) return words.say(run?.end ? "stepEnded" : "stepNotYet");
  const parts = [words.say("stepLoss", { loss: words.measured(here.loss) })];
  if (name === "dynamic" || name === "static") parts.push(words.say("stepScale", { scale: pretty(here.text) }));
  if (here.did !== "S") parts.push(words.say(here.did === "R" ? "stepRaised" : "stepSkipped"));
  if (name !== "fp32") parts.push(words.say("stepLost", { share: words.percent(here.lost) }));
  if (name === "dynamic") parts.push(windowText(here.window, store));
  return parts.join(" · ");
}
