// The outcome in one plain sentence, and why.

import { change, html, write } from "./dom.js";
import { NONFINITE, NORMAL, OVERFLOW, SUBNORMAL, UNDERFLOW, ZERO } from "./lookup.js";
import { sign } from "./marks.js";
import { power, pretty, spoken } from "./words.js";

export class OutcomeCard {
  constructor(store) {
    this.store = store;
    this.title = html("h2", { class: "outcome-title" });
    this.lines = html("div", { class: "outcome-lines" });
    this.element = html("section", { class: "card outcome", "aria-label": store.words.say("outcomeName") }, this.title, this.lines);
  }

  show() {
    const { state, lookups, words } = this.store;
    const { title, lines, mood } = outcomeText(state, lookups, words, pretty);
    change(this.element, { "data-mood": mood });
    write(this.title, title);
    // Why would give away the window that is to be found.
    if (this.store.lessons.hidesWindow(state)) lines.length = 0;
    while (this.lines.children.length > lines.length) this.lines.lastChild.remove();
    while (this.lines.children.length < lines.length) this.lines.append(html("p"));
    lines.forEach((line, index) => write(this.lines.children[index], line));
  }
}

// Title, further lines and mood of a state; `spell` writes a number for the eye or for the ear.
export function outcomeText(state, lookups, words, spell) {
  const rows = state.gradients.map((gradient) => ({ gradient, ...lookups.row(gradient, state) }));
  const of = (outcome) => rows.filter((row) => row.outcome === outcome);
  const name = (row) => spell(lookups.name(row.gradient), words);
  const [zeros, lost, subnormal, normal, over, nonfinite] = [ZERO, UNDERFLOW, SUBNORMAL, NORMAL, OVERFLOW, NONFINITE].map(of);
  const living = subnormal.length + normal.length;
  const clauses = [
    clause("lost", lost, name, words), clause("overflows", over, name, words), clause("nonfinite", nonfinite, name, words),
  ].filter(Boolean);
  if (!rows.length) return { title: words.say("outcomeEmpty"), lines: [words.say("outcomeEmptyLine")], mood: "none" };
  if (clauses.length) {
    const worst = over.length ? OVERFLOW : lost.length ? UNDERFLOW : NONFINITE;
    const lines = [over.length ? words.say("skipLine") : null, why(state, lookups, words, lost, over, spell), nonfinite.length ? words.say("nonfiniteLine") : null];
    return { title: `${sign(worst)} ${words.list(clauses)}`, lines: lines.filter(Boolean), mood: ["", "underflow", "", "", "overflow", "nonfinite"][worst] };
  }
  if (!living) return { title: words.say("outcomeZeros"), lines: [words.say("zerosLine")], mood: "none" };
  const all = words.say(living === 1 ? "oneSurvives" : living === 2 ? "bothSurvive" : "allSurvive", { n: living, name: name((normal[0] ?? subnormal[0])) });
  const lines = [why(state, lookups, words, lost, over, spell), ...precision(state, lookups, words, subnormal, name)];
  if (zeros.length) lines.push(words.say("zerosLine"));
  return { title: `✓ ${all}`, lines: lines.filter(Boolean), mood: subnormal.length ? "subnormal" : "normal" };
}

function clause(kind, rows, name, words) {
  if (!rows.length) return null;
  if (rows.length <= 2) return words.say(`${kind}Named`, { n: rows.length, names: words.list(rows.map(name)) });
  return words.say(`${kind}Count`, { n: rows.length });
}

// Where the scale lies to the window.
function why(state, lookups, words, lost, over, spell) {
  const windows = lookups.windows(state.gradients, state.format);
  if (!windows) return null;
  const scale = state.scale ? spell(state.scale.text, words) : spell(`2^${state.k}`, words);
  const { survive } = windows;
  if (survive.empty) return words.say("whyNone");
  const above = spell(survive.lower.text.split(" ")[0], words), below = spell(survive.upper.text.split(" ")[0], words);
  if (lost.length) return words.say("whyBelow", { scale, above });
  if (over.length) return words.say(survive.upperClosed ? "whyAboveClosed" : "whyAbove", { scale, below });
  return words.say("whyInside", { scale });
}

function precision(state, lookups, words, subnormal, name) {
  if (!subnormal.length) return [words.say("allFull")];
  const bits = lookups.formats[state.format].significantBits;
  const worst = subnormal.reduce((a, b) => (a.kept <= b.kept ? a : b));
  const { full, count: n } = lookups.windows(state.gradients, state.format);
  const need = full.empty || full.powerless
    ? words.say("fullNever", { n })
    : full.first === full.last
      ? words.say("fullNeedsOne", { n, power: power(full.first) })
      : words.say("fullNeeds", { n, first: power(full.first), last: power(full.last) });
  return [words.say("keptBits", { name: name(worst), kept: worst.kept, bits }), need];
}

// The slider's value as it is read aloud: the scale, then what becomes of the gradients.
export function spokenOutcome(state, lookups, words) {
  const number = lookups.scaleText(state);
  const scale = state.scale ? words.say("spokenTyped", { scale: spoken(number, words) }) : words.say("spokenScale", { power: spoken(`2^${state.k}`, words), scale: spoken(number, words) });
  const { title } = outcomeText(state, lookups, words, spoken);
  return words.say("spokenValue", { scale, outcome: lowered(title.replace(/^[✓✕▲■]\s/u, "")) });
}

const lowered = (text) => text.charAt(0).toLowerCase() + text.slice(1);
