// Settings as a form: a field for each, of which those that differ from the beginning make a short text.

import { change, html, write } from "./dom.js";
import { pretty } from "./words.js";

export class SettingsForm {
  // `fields`: name and choices of each; `shown`: the names of those that are seen at once; `ask` lets Python check.
  constructor(store, id, fields, shown, ask) {
    const { words } = store;
    Object.assign(this, { store, ask });
    this.boxes = new Map(fields.map(({ name, choices }) => [name, this.box(`lse-${id}-${name}`, name, choices)]));
    const row = (name) => html("div", { class: "setting" },
      html("label", { for: `lse-${id}-${name}`, title: words.say(`field-${name}`) }, name), this.boxes.get(name));
    const rest = fields.map(({ name }) => name).filter((name) => !shown.includes(name));
    this.problem = html("p", { class: "problem", role: "alert", id: `lse-${id}-problem` });
    this.element = html("div", { class: "settings" }, ...shown.map(row),
      html("details", { class: "more" }, html("summary", {}, words.say("moreSettings")), html("div", { class: "settings" }, ...rest.map(row))),
      this.problem);
  }

  box(id, name, choices) {
    const { words } = this.store;
    const attributes = { id, class: "field", "aria-description": words.say(`field-${name}`), onchange: () => this.changed() };
    if (!choices.length) return html("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", ...attributes });
    return html("select", attributes, ...choices.map((choice) => html("option", { value: choice }, chosen(choice, words))));
  }

  // The settings that differ from `defaults`, as they go into a link.
  text(defaults) {
    return [...this.boxes].map(([name, box]) => [name, linked(box.value)]).filter(([name, value]) => value !== defaults[name])
      .map(([name, value]) => `${name}.${value}`).join();
  }

  // Fill in what is set; what the reader is still to mend stays as it was typed.
  show(values) {
    const key = JSON.stringify(values);
    if (key === this.shown) return;
    Object.assign(this, { shown: key, typed: false });
    for (const [name, box] of this.boxes) box.value = unlinked(values[name] ?? "");
    this.tell("");
  }

  // What was typed is given up; what is set is shown next.
  forget() {
    this.shown = null;
  }

  // Have in the boxes what a former form had, which was in another language, and be told in this one what is wrong.
  follow(former) {
    this.shown = former.shown;
    for (const [name, box] of this.boxes) box.value = former.boxes.get(name).value;
    if (former.typed) this.changed();
  }

  changed() {
    this.typed = true;
    const { words } = this.store;
    const [name, box] = [...this.boxes].find(([, { value }]) => !WRITTEN.test(linked(value))) ?? [];
    this.tell(name ? words.say("fieldUnreadable", { name, text: box.value }) : "");
    if (!name) this.ask();
  }

  // A problem begins with the name of its field.
  tell(sentence) {
    write(this.problem, sentence);
    for (const [name, box] of this.boxes) {
      const wrong = sentence.startsWith(`${name} `);
      change(box, { "aria-invalid": wrong ? "true" : null, "aria-errormessage": wrong ? this.problem.id : null });
      if (wrong) for (let parent = box.closest("details"); parent; parent = null) parent.open = true;
    }
  }
}

// What a setting is written with in a link.
const WRITTEN = /^[0-9A-Za-z._-]+$/;

// A number as people type it, in the letters of a link: 2^16 as p16, 0,5 as 0.5; 1,000 could mean either.
function linked(text) {
  return text.trim().replace(/^2(\^|\*\*)(-?\d+)$/, "p$2").replace(/^(?![1-9]\d{0,2},\d{3}$)(\d+),(\d+)$/, "$1.$2").replaceAll("+", "");
}

const unlinked = (text) => text.replace(/^p(-?\d+)$/, "2^$1");

const chosen = (choice, words) => (words.has(`choice-${choice}`) ? words.say(`choice-${choice}`) : choice);

// What a text sets, for people to read.
export function settingsText(text, words) {
  return Object.entries(settingsOf(text, {})).map(([name, value]) => `${name} = ${pretty(chosen(unlinked(value), words))}`).join(words.separator);
}

// A scaler by its name, with what differs from it.
export function scalerName(policy, words) {
  const [preset, ...changes] = policy.split(","), scaler = words.say(`scaler-${preset}`), settings = settingsText(changes.join(), words);
  return settings ? words.say("givenScaler", { scaler, settings }) : scaler;
}

// What it is, where it is a number.
export function numberOf(text) {
  const power = /^p(-?\d+)$/.exec(text);
  return power ? 2 ** power[1] : Number(text);
}

// What a text sets, over defaults.
export function settingsOf(text, defaults) {
  return { ...defaults, ...Object.fromEntries(text.split(",").filter(Boolean).map((word) => {
    const [name, ...value] = word.split(".");
    return [name, value.join(".")];
  })) };
}
