// What is done with scenarios: opening one, challenging the reader, printing a sheet, and the keys of a lecture.

import { PrintSheet } from "./printsheet.js";
import { sheetPicture } from "./sheetpicture.js";

// In the window of a challenge: its first power of two is at most this, and its last this many octaves above.
const MOST_DARED = 16, WIDEST_DARED = 5;

// Where a letter is typed, or chooses from a list.
const TYPED = "input[type=text], textarea, select";

export class Classroom {
  constructor(store, page) {
    Object.assign(this, { store, page });
  }

  // The state that a scenario opens with.
  opening(id) {
    const { codec } = this.page;
    return { ...codec.defaults, ...codec.scenario(id) };
  }

  open(id) {
    const { store } = this, { mode, theme, language, embed, hide } = store.state;
    store.lessons.challenge = null;
    if (id) store.begin({ ...this.opening(id), mode, theme, language, embed, hide });
    else store.act({ scenario: "", mode: "play" });
  }

  // Two powers of two that some scale saves, but not the one the slider is at.
  dare() {
    const { store, page } = this;
    const formats = [store.state.format, page.setup.beginning.format];
    const [format, gradients] = formats.map((each) => [each, this.pair(each)]).find(([, pair]) => pair.every(Boolean));
    store.begin({ gradients, format, k: 0 });
    store.lessons.dare(store.state);
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

  async print() {
    const { store, page } = this, lesson = store.lessons.scenario(store.state);
    const sheet = new PrintSheet(store);
    sheet.fill(lesson, await sheetPicture(page, this.opening(lesson.id)));
    sheet.print();
  }

  // Before the slider and lists to choose from, which have other uses for the keys of a presenter's remote. In a text
  // of several lines, and in a dialog over the page, they are left alone; and so are all keys in somebody else's page
  // (`onControls`), unless a control of this one has the focus.
  listen(ground, onControls) {
    ground.addEventListener("keydown", (event) => {
      const { target } = event;
      if (target.closest?.("textarea, dialog") || (onControls && target.tabIndex < 0)) return;
      if (!this.page.lesson.key(event, target.matches?.(TYPED))) return;
      event.preventDefault();
      event.stopPropagation();
    }, { capture: true });
  }
}
