// The journey of one gradient: scaled, stored, unscaled, and what is left of it.

import { change, html, write } from "./dom.js";
import { NORMAL, OUTCOMES, OVERFLOW, SUBNORMAL, UNDERFLOW } from "./lookup.js";
import { sign } from "./marks.js";
import { about, equation, pretty } from "./words.js";

export class Journey {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.select = html("select", { id: "lse-journey", "aria-label": words.say("journeyChoice"), onchange: () => store.pick(this.select.selectedIndex) });
    this.steps = ["scaled", "stored", "recovered", "error"].map((name) => {
      const value = html("dd", { class: `value step-${name}` });
      const detail = html("dd", { class: `detail step-${name}` });
      return { name, label: html("dt", {}), value, detail, sign: html("span", { class: "pill", "aria-hidden": "true" }) };
    });
    this.unscaled = html("p", { class: "without" });
    this.element = html("section", { class: "card journey", "aria-labelledby": "lse-journey-title" },
      html("h2", { id: "lse-journey-title" }, words.say("journeyTitle"), " ", this.select),
      html("div", { class: "steps" }, ...this.steps.map((step) =>
        html("dl", { class: "step" }, html("div", {}, step.sign), html("div", {}, step.label, step.value, step.detail)))),
      this.unscaled);
  }

  show() {
    const { state, lookups, words } = this.store;
    const gradient = state.gradients[state.selected];
    this.element.hidden = !gradient;
    if (!gradient) return;
    const names = state.gradients.map((each) => about(`g = ${pretty(lookups.name(each))}`));
    if ([...this.select.options].map((option) => option.text).join() !== names.join()) {
      this.select.replaceChildren(...names.map((name, index) => html("option", { value: index }, name)));
    }
    this.select.selectedIndex = state.selected;
    const row = lookups.row(gradient, state);
    const format = lookups.formats[state.format];
    const word = words.say(`outcome-${OUTCOMES[row.outcome]}`);
    const details = {
      scaled: ["× S", words.say("stepScaled"), equation(row.scaled), ""],
      stored: [`→ ${format.label}`, words.say("stepStored", { format: format.label }), equation(row.stored), row.bits],
      recovered: ["÷ S", words.say("stepRecovered"), equation(row.recovered), ""],
      error: ["Δ", words.say("stepError"), errorText(row.error, words), ""],
    };
    for (const step of this.steps) {
      const [icon, label, value, detail] = details[step.name];
      write(step.sign, icon);
      write(step.label, step.name === "stored" ? `${label} ${sign(row.outcome)} ${word}` : label);
      write(step.value, value);
      write(step.detail, detail);
      step.detail.hidden = detail === "";
    }
    change(this.element, { "data-outcome": OUTCOMES[row.outcome] });
    const plain = lookups.row(gradient, { ...state, scale: null }, state.format, 0);
    const unscaled = !state.scale && state.k === 0;
    const key = !unscaled && { [UNDERFLOW]: "withoutLost", [OVERFLOW]: "withoutOver", [SUBNORMAL]: "withoutKept", [NORMAL]: "withoutKept" }[plain.outcome];
    write(this.unscaled, key ? words.say(key, { stored: equation(plain.stored), scale: pretty(lookups.scaleText(state)) }) : "");
  }
}

export function errorText(error, words) {
  if (error === "0") return words.say("errorNone");
  return error === "nan" ? "—" : pretty(error);
}
