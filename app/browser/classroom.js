// What is done with scenarios: opening one, challenging the reader, printing a sheet, and the keys of a lecture.

import { change } from "./dom.js";
import { PrintSheet } from "./printsheet.js";

// In the window of a challenge: its first power of two is at most this, and its last this many octaves above.
const MOST_DARED = 16, WIDEST_DARED = 5;

// The charts that a sheet of paper has room for.
const PRINTED = ".window-chart, .landing-chart, .order-chart, .loss-chart, .trace-chart";

export class Classroom {
  constructor(store, page) {
    Object.assign(this, { store, page });
  }

  open(id) {
    const { store, page: { codec } } = this, { mode, theme, language, embed, hide } = store.state;
    store.lessons.challenge = null;
    if (id) store.begin({ ...codec.defaults, ...codec.scenario(id), mode, theme, language, embed, hide });
    else store.act({ scenario: "", mode: "play" });
  }

  // Two powers of two that some scale saves, but not the one the slider is at.
  dare() {
    const { store, page } = this;
    const formats = [store.state.format, page.setup.beginning.format];
    const [format, gradients] = formats.map((each) => [each, this.pair(each)]).find(([, pair]) => pair.every(Boolean));
    store.begin({ gradients, format, k: 0 });
    store.lessons.dare(gradients);
    page.draw();
  }

  // Their safe window in a format, made first. In a format with a wide range no gradients that the page knows need one.
  pair(format) {
    const { lookups } = this.store;
    const random = (from, to) => from + Math.floor(Math.random() * (to - from + 1));
    const first = random(2, MOST_DARED), last = first + random(0, WIDEST_DARED);
    const { survival, overflow } = lookups.ends(lookups.find("1"), format);
    return [survival.k - first, overflow.k - 1 - last].map((octave) => lookups.find(`2^${octave}`));
  }

  // Paper is white, whatever the page is.
  print() {
    const { store, page } = this, { lesson, share: { exports } } = page, { state } = store;
    change(page.themed, { "data-theme": "light" });
    const picture = page.covered ? null : exports.drawn(exports.charts().filter(({ element }) => element.matches(PRINTED)));
    change(page.themed, { "data-theme": state.theme });
    const sheet = new PrintSheet(store), found = store.lessons.scenario(state);
    sheet.fill(found, (part) => lesson.say(found, part), page.shown.given(), picture?.text ?? "");
    sheet.print();
  }

  // Before the slider, which has another use for the keys of a presenter's remote.
  listen(ground) {
    ground.addEventListener("keydown", (event) => {
      if (event.target.matches?.("input[type=text], textarea, select") || !this.page.lesson.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    }, { capture: true });
  }
}
