// How the page looks and speaks: colours, language, the whole screen.

import { Choice } from "./choices.js";
import { change, html } from "./dom.js";

const THEMES = ["auto", "light", "dark", "projector"];

export class DisplayMenu {
  constructor(store, languages) {
    const { words } = store;
    this.store = store;
    this.theme = new Choice("theme", words.say("themeLegend"), THEMES.map((value) => ({ value, label: words.say(`theme-${value}`) })), (theme) => store.act({ theme }));
    this.language = new Choice("language", words.say("languageLegend"), Object.entries(languages).map(([value, { name }]) => ({ value, label: name, lang: value })),
      (language) => store.act({ language }));
    this.full = html("button", { type: "button", class: "bar-button", onclick: () => this.fill() }, words.say("fullScreen"));
    this.choices = html("div", { class: "display-choices" }, this.theme.element, this.language.element, this.full);
    this.element = html("details", { class: "display-menu", ontoggle: () => this.place(), onkeydown: (event) => { if (event.key === "Escape") this.element.open = false; } },
      html("summary", {}, words.say("display")), this.choices);
    // Another theme or language has another size.
    new ResizeObserver(() => this.place()).observe(this.choices);
    change(this.full, { "data-absent": !document.fullscreenEnabled });
    addEventListener("pointerdown", (event) => { if (!event.composedPath().includes(this.element)) this.element.open = false; });
  }

  show({ theme }, language) {
    this.theme.show(theme);
    this.language.show(language);
  }

  // Under its button, but not out of the window where that is near the left edge.
  place() {
    this.choices.style.translate = "";
    this.choices.style.translate = `${Math.max(0, 4 - this.choices.getBoundingClientRect().left)}px`;
  }

  fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen().catch(() => {});
  }
}
