// Runs worth trying: those of the scenarios, each a setting of the scaler and the run.

import { change, html } from "./dom.js";

const SET = ["policy", "run"];

export class TryRuns {
  constructor(store, tries) {
    const { words } = store;
    this.store = store;
    this.buttons = Object.entries(tries).map(([name, scene]) => ({
      scene, button: html("button", { type: "button", onclick: () => this.choose(scene) }, words.say(`tryRuns-${name}`)),
    }));
    this.element = html("section", { class: "card try try-runs", "aria-labelledby": "lse-try-runs-title" },
      html("h2", { id: "lse-try-runs-title" }, words.say("tryRunsTitle")),
      html("ul", {}, ...this.buttons.map(({ button }) => html("li", {}, button))));
  }

  choose({ policy, run, format, log2_scale: k }) {
    this.store.act({ policy, run, format, k, scale: null, scenario: "", mode: "play" });
  }

  show() {
    const { state } = this.store;
    for (const { scene, button } of this.buttons) {
      change(button, { "aria-pressed": SET.every((name) => scene[name] === state[name]) ? "true" : "false" });
    }
  }
}
