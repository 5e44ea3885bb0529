// What a scale does to a distribution, in words and numbers, and the scale to take instead.

import { Choice } from "./choices.js";
import { here } from "./distributions.js";
import { change, html, write } from "./dom.js";
import { OVERFLOW, UNDERFLOW } from "./lookup.js";
import { sign } from "./marks.js";
import { power, pretty, short, spoken } from "./words.js";

export class KeptCard {
  constructor(store, losing) {
    const { words } = store;
    this.store = store;
    this.title = html("h2", { class: "outcome-title" });
    this.lines = html("div", { class: "outcome-lines" });
    this.rows = ["underflow", "subnormal", "normal", "overflow"].map((name, place) => {
      const share = html("td", { class: "number" }), count = html("td", { class: "number" });
      const head = html("th", { scope: "row" }, `${sign(place + 1)} ${words.say(`outcome-${name}`)}`);
      return { share, count, line: html("tr", { "data-outcome": name }, head, share, count) };
    });
    this.table = html("table", { class: "counts" },
      html("caption", { class: "unseen" }, words.say("countsCaption")),
      html("thead", { class: "unseen" }, html("tr", {}, ...["column-outcome", "countsShare", "countsNumber"].map((key) => html("th", { scope: "col" }, words.say(key))))),
      html("tbody", {}, ...this.rows.map(({ line }) => line)));
    this.losing = new Choice("losing", words.say("losingLegend"),
      losing.map((value) => ({ value, label: pretty(`${value}%`) })), (value) => store.act({ losing: value }));
    this.advice = html("p", { class: "advice" });
    this.take = html("button", { type: "button", class: "take", onclick: () => store.act({ k: this.best.k, scale: null }) });
    this.element = html("section", { class: "card outcome kept-card", "aria-label": words.say("outcomeName") }, this.title, this.lines, this.table,
      html("div", { class: "losing-row" }, html("span", { class: "quiet", "aria-hidden": "true" }, words.say("losingLegend")), this.losing.element),
      this.advice, this.take);
  }

  show(data) {
    const { state, words } = this.store;
    const now = here(data, state);
    const { title, lines, mood } = keptText(data, this.store);
    change(this.element, { "data-mood": mood });
    write(this.title, title);
    this.lines.replaceChildren(...lines.map((line) => html("p", {}, line)));
    this.rows.forEach(({ share, count }, place) => {
      write(share, pretty(now.shares[place]));
      write(count, words.number(now.counts[place]));
    });
    this.losing.show(state.losing);
    this.best = now.best;
    write(this.advice, advice(now, this.store));
    write(this.take, now.best ? words.say("takeScale", { scale: power(now.best.k) }) : "");
    change(this.take, { "data-hidden": now.best === null || now.best.k === state.k });
  }
}

// Title, further lines and mood of a distribution at a scale.
export function keptText(data, { state, words }) {
  const { lost, over, counts, shares, kept, window, inside } = here(data, state);
  if (data.alive === 0) return { title: words.say("nothingAlive"), lines: remarks(data, words), mood: "none" };
  const why = whyText(window, state, words);
  if (over) {
    const title = `${sign(OVERFLOW)} ${words.say("shareOverflows", { n: over, count: words.number(over), share: pretty(shares[3]) })}`;
    return { title, lines: [words.say("skipLine"), why, ...remarks(data, words)].filter(Boolean), mood: "overflow" };
  }
  if (!lost) return { title: `✓ ${words.say("everySurvives", { n: data.alive, count: words.number(data.alive) })}`, lines: [why, ...remarks(data, words)], mood: counts[1] ? "subnormal" : "normal" };
  const values = { n: lost, count: words.number(lost), share: pretty(shares[0]), kept: pretty(kept) };
  if (inside) return { title: `✓ ${words.say("shareSurvives", values)}`, lines: [why, ...remarks(data, words)], mood: "normal" };
  return { title: `${sign(UNDERFLOW)} ${words.say("shareLost", values)}`, lines: [why, ...remarks(data, words)], mood: "underflow" };
}

function whyText(window, state, words) {
  const scale = power(state.k);
  if (!window) return "";
  if (window.empty) return words.say(state.losing === "0" ? "whyNone" : "whyNoneLosing", { share: pretty(`${state.losing}%`) });
  const below = short(window.upper.text), above = short(window.lower.text);
  if (state.k < window.lower.log2 || (window.powers && state.k < window.powers[0])) return words.say("whyBelow", { scale, above });
  if (window.powers ? state.k > window.powers[1] : state.k > window.upper.log2) return words.say(window.upperClosed ? "whyAboveClosed" : "whyAbove", { scale, below });
  return words.say("whyInside", { scale });
}

function remarks(data, words) {
  return [
    data.zeros ? words.say("zerosShare", { share: pretty(data.zerosShare) }) : null,
    data.nonfinite ? words.say("nonfiniteShare", { n: data.nonfinite, count: words.number(data.nonfinite) }) : null,
  ].filter(Boolean);
}

function advice({ best }, { state, words }) {
  if (!best) return words.say("adviceNone");
  const values = { scale: power(best.k), kept: pretty(best.kept), n: best.headroom, headroom: best.headroom };
  if (!best.within) return words.say("adviceMost", values);
  return words.say(state.k === best.k ? "adviceHere" : "adviceTake", values);
}

export function spokenKept(data, store) {
  const { state, words, lookups } = store;
  const scale = words.say("spokenScale", { power: spoken(`2^${state.k}`, words), scale: spoken(lookups.scaleText({ ...state, scale: null }), words) });
  return words.say("spokenValue", { scale, outcome: keptText(data, store).title.replace(/^\S+ /, "") });
}
