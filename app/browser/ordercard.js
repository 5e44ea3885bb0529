// What came of a step, in words and numbers beside the true one.

import { change, html, write } from "./dom.js";
import { sign } from "./marks.js";
import { listed, stretches, wrongOnes } from "./orderblocks.js";
import { SIGNS } from "./orderchart.js";
import { recordedMark } from "./recordedmark.js";
import { SUBNORMAL } from "./lookup.js";
import { equation, power, pretty, short, spoken } from "./words.js";

const MOODS = {
  right: "normal", near: "wrong", skipped: "overflow", hiddenSmall: "overflow", hiddenLarge: "overflow", nonfinite: "nonfinite",
  lost: "underflow", swallowed: "underflow", partly: "underflow", partlyWrong: "underflow",
};

export class OrderCard {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.title = html("h2", { class: "outcome-title" });
    this.lines = html("div", { class: "outcome-lines" });
    const cells = ["orderTruth", "orderMade", "orderShare"].map((key) => ({ key, cell: html("td", {}) }));
    this.cells = cells.map(({ cell }) => cell);
    this.table = html("table", { class: "counts" }, html("caption", { class: "unseen" }, words.say("orderNumbersName")),
      html("tbody", {}, ...cells.map(({ key, cell }) => html("tr", {}, html("th", { scope: "row" }, words.say(key)), cell))));
    this.recorded = recordedMark(words, words.say("orderRecorded"));
    this.live = html("p", { class: "elsewhere", "data-hidden": true }, html("a", { href: store.live.address || null, target: "_blank", rel: "noopener" }, words.say("openLiveStep")));
    this.element = html("section", { class: "card outcome order-card", "aria-label": words.say("outcomeName") }, this.title, this.lines, this.table, this.recorded, this.live);
  }

  show(shown) {
    const { state, model, live } = this.store;
    const { title, lines, mood } = orderText(shown, this.store);
    change(this.element, { "data-mood": mood, "data-of": shown.of });
    write(this.title, title);
    const text = lines.join("\n");
    if (this.said !== text) this.lines.replaceChildren(...lines.map((line) => html("p", {}, line)));
    this.said = text;
    const { mine, recorded } = shown;
    change(this.recorded, { "data-hidden": !recorded });
    change(this.table, { "data-hidden": !mine });
    change(this.live, { "data-hidden": Boolean(mine) || !model.saved || !live.address });
    if (!mine) return;
    const { update, ratio } = mine.result(state.k);
    const list = (places) => listed(places.map((place) => mine.texts[place]), this.store.words, equation);
    [list(mine.reference), list(update), pretty(ratio)].forEach((cell, index) => write(this.cells[index], cell));
  }
}

// Title, further lines and mood of a step.
export function orderText(shown, store, spell = short) {
  const { words, state } = store, { mine, right, order, format } = shown;
  if (!mine) return { title: words.say("orderUnknown"), lines: [shown.problem], mood: "none" };
  const result = mine.result(state.k), { verdict, lost } = result;
  const list = (places) => listed(places.map((place) => mine.texts[place]), words, spell);
  const title = words.say(`verdict-${verdict}`, {
    format, lost, n: lost, total: mine.reference.length, truth: list(mine.reference), made: list(result.update), factor: spell(result.factor), ratio: spell(result.ratio),
  });
  return { title: `${verdict === "right" ? "✓" : sign(SIGNS[verdict] ?? SUBNORMAL)} ${title}`, lines: reasons(verdict, shown, store), mood: MOODS[verdict] ?? "wrong" };
}

function reasons(verdict, { mine, right, order, example, format }, { words, state }) {
  const wrong = wrongOnes(order), scale = power(state.k);
  const should = right?.result(state.k).verdict ?? "right";
  const scales = (same) => stretches(same, words, power);
  const lines = should === "right" ? [] : [words.say(should === "skipped" ? "orderTooLarge" : "orderTooSmall", { scale })];
  if (!wrong.length) return verdict === "right" ? [words.say("orderSame", { scales: scales(mine.same) })] : lines;
  const causes = causesAmong(wrong, example).map((name) => (name === "unscale" ? `unscale-${order.unscale}` : name));
  if (verdict !== should) lines.push(...causes.map((cause) => words.say(`why-${cause}`, { format })));
  const harmless = right && String(right.same) === String(mine.same);
  if (verdict === "right") lines.push(words.say(harmless ? "orderNoOdds" : "orderHides"));
  if (!harmless) lines.push(mine.same.length ? words.say("orderOnlyFor", { scales: scales(mine.same) }) : words.say("orderNeverRight"));
  return lines;
}

// Those out of place that are known to matter to an example, or else all that it has a use for.
function causesAmong(wrong, { inPlay, clip, shares, gradients }) {
  const known = wrong.filter((name) => inPlay.includes(name));
  const batches = gradients.length > 1, idle = { check: !clip, clip: !clip, average: !shares.length, update: !batches, accumulate: !batches };
  return known.length ? known : wrong.filter((name) => !idle[name]);
}

export function spokenOrder(shown, store) {
  const { state, words, lookups } = store;
  const scale = words.say("spokenScale", { power: spoken(`2^${state.k}`, words), scale: spoken(lookups.scaleText({ ...state, scale: null }), words) });
  const { title } = orderText(shown, store, (text) => spoken(text, words));
  return words.say("spokenValue", { scale, outcome: title.replace(/^[^\p{L}\p{N}]+/u, "") });
}
