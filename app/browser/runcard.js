// The settings of the runs, and starting and stopping them.

import { change, html, write } from "./dom.js";
import { SettingsForm, numberOf, settingsOf } from "./settingsform.js";

const SHOWN = ["seed", "steps", "positions", "reduction", "micro_batches", "inject", "inject_at"];

export class RunCard {
  constructor(store, fields, maker) {
    const { words } = store;
    this.store = store;
    this.defaults = Object.fromEntries(fields.map((field) => [field.name, field.default]));
    this.form = new SettingsForm(store, "run", fields, SHOWN, () => this.check());
    this.loss = html("span", {});
    this.progress = html("progress", { max: 1, "aria-label": words.say("runProgress") });
    this.told = html("span", {});
    this.start = html("button", { type: "button", class: "take", onclick: () => maker.start() }, words.say("runStart"));
    this.stop = html("button", { type: "button", onclick: () => maker.stop() }, words.say("runStop"));
    this.busy = html("div", { class: "busy", role: "status" }, this.progress, this.told, this.stop, this.start);
    this.problem = html("p", { class: "problem", role: "alert" });
    this.element = html("section", { class: "card run-card", "aria-labelledby": "lse-run-title" },
      html("h2", { id: "lse-run-title" }, words.say("runTitle")),
      html("p", { class: "quiet" }, words.say("runData"), " ", this.loss),
      this.busy, this.problem,
      this.form.element);
  }

  // Only what Python can read goes into the state.
  check() {
    this.store.settle({ run: this.form.text(this.defaults) }, this.form);
  }

  show({ share, going, note }) {
    const { store } = this;
    const settings = settingsOf(store.state.run, this.defaults);
    this.form.show(settings);
    write(this.loss, lossText(settings, store.words));
    change(this.busy, { "data-hidden": !note });
    change(this.progress, { "data-hidden": !going });
    this.progress.value = share;
    change(this.stop, { "data-hidden": !going });
    change(this.start, { "data-hidden": going || note !== "stopped" });
    write(this.told, note ? store.words.say(`run-note-${note}`) : "");
  }

  tell(sentence) {
    write(this.problem, sentence);
  }
}

// What the loss of the runs is, in words.
function lossText({ positions, reduction }, words) {
  const places = numberOf(positions);
  const text = places > 1 ? words.say("runPlaces", { places: words.number(places) }) : words.say("runPlain");
  return reduction === "sum" ? `${text} ${words.say("runAdded")}` : text;
}
