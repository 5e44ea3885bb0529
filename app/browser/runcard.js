// The settings of the runs, and starting and stopping them.

import { change, html, write } from "./dom.js";
import { SettingsForm, settingsOf } from "./settingsform.js";

const SHOWN = ["seed", "steps", "positions", "reduction", "micro_batches", "inject", "inject_at"];

export class RunCard {
  constructor(store, fields, maker) {
    const { words } = store;
    this.store = store;
    this.defaults = Object.fromEntries(fields.map((field) => [field.name, field.default]));
    this.form = new SettingsForm(store, "run", fields, SHOWN, () => this.check());
    this.progress = html("progress", { max: 1, "aria-label": words.say("runProgress") });
    this.told = html("span", {});
    this.start = html("button", { type: "button", class: "take", onclick: () => maker.start() }, words.say("runStart"));
    this.stop = html("button", { type: "button", onclick: () => maker.stop() }, words.say("runStop"));
    this.busy = html("div", { class: "busy", role: "status" }, this.progress, this.told, this.stop, this.start);
    this.problem = html("p", { class: "problem", role: "alert" });
    this.element = html("section", { class: "card run-card", "aria-labelledby": "lse-run-title" },
      html("h2", { id: "lse-run-title" }, words.say("runTitle")),
      html("p", { class: "quiet" }, words.say("runData")),
      this.busy, this.problem,
      this.form.element);
  }

  // Only what Python can read goes into the state.
  check() {
    this.store.settle({ run: this.form.text(this.defaults) }, this.form);
  }

  show({ share, going, note }) {
    const { store } = this;
    this.form.show(settingsOf(store.state.run, this.defaults));
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
