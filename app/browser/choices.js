// One of a few: the format, the theme, a thing to try.

import { change, html } from "./dom.js";

// Native radio buttons, drawn as one strip.
export class Choice {
  constructor(name, legend, options, choose) {
    this.inputs = options.map(({ value, label, description, lang = null }) => {
      const input = html("input", { type: "radio", name: `lse-${name}`, value, onchange: () => choose(value) });
      return { value, input, label: html("label", { title: description ?? null }, input, html("span", { lang }, label)) };
    });
    this.element = html("fieldset", { class: `choice ${name}` }, html("legend", { class: "unseen" }, legend), ...this.inputs.map(({ label }) => label));
  }

  show(value) {
    for (const each of this.inputs) {
      if (each.input.checked !== (each.value === value)) each.input.checked = each.value === value;
    }
  }
}

export class TryList {
  constructor(store, presets) {
    const { words } = store;
    this.buttons = presets.map((preset) => ({
      preset,
      button: html("button", { type: "button", onclick: () => store.begin(preset) }, words.say(`try-${preset.id}`)),
    }));
    this.store = store;
    this.element = html("section", { class: "card try", "aria-labelledby": "lse-try-title" },
      html("h2", { id: "lse-try-title" }, words.say("tryTitle")),
      html("ul", {}, ...this.buttons.map(({ button }) => html("li", {}, button))));
  }

  show() {
    const { state } = this.store;
    const tokens = state.gradients.map((gradient) => gradient.token).join();
    for (const { preset, button } of this.buttons) {
      const here = preset.format === state.format && preset.gradients.map((each) => each.token).join() === tokens;
      change(button, { "aria-pressed": here ? "true" : "false" });
    }
  }
}
