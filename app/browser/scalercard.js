// The scaler of the dynamic run: a framework's, with every field to be changed.

import { html } from "./dom.js";
import { SettingsForm, settingsOf } from "./settingsform.js";

const SHOWN = ["init_scale", "growth_factor", "backoff_factor", "growth_interval"];

export class ScalerCard {
  constructor(store, fields, presets) {
    const { words } = store;
    Object.assign(this, { store, presets });
    this.preset = html("select", { id: "lse-preset", class: "field", onchange: () => store.act({ policy: this.preset.value }) },
      ...Object.keys(presets).map((name) => html("option", { value: name }, words.say(`scaler-${name}`))));
    this.form = new SettingsForm(store, "scaler", fields, SHOWN, () => this.check());
    this.element = html("section", { class: "card scaler-card", "aria-labelledby": "lse-scaler-title" },
      html("h2", { id: "lse-scaler-title" }, words.say("scalerTitle")),
      html("div", { class: "setting" }, html("label", { for: "lse-preset" }, words.say("scalerPreset")), this.preset),
      this.form.element);
  }

  follow({ preset, form }) {
    this.preset.value = preset.value;
    this.form.follow(form);
  }

  check() {
    const preset = this.preset.value, changes = this.form.text(this.presets[preset]);
    this.store.settle({ policy: [preset, changes].filter(Boolean).join() }, this.form);
  }

  show() {
    const [preset, ...changes] = this.store.state.policy.split(",");
    this.preset.value = preset;
    this.form.show(settingsOf(changes.join(), this.presets[preset]));
  }
}
