// Where a reader is in a part of the page, and what is typed and not taken up yet: kept while the part is made anew.

import { change } from "./dom.js";

// What a reader has typed, by its id, but for choices and settings, which are the state's; and what can have the focus.
const TYPED = "input.field[id]:not(.setting *), input[type=checkbox][id]", REACHED = "a[href], button, input, select, textarea, summary, [tabindex]";

const all = (element, selector) => [...element.querySelectorAll(selector)];

// Returns what puts the reader back, in an element of the same parts.
export function placeOf(element) {
  const typed = all(element, TYPED).map(({ id, value, checked }) => ({ id, value, checked }));
  const open = all(element, "details").map((each) => each.open), { scrollX, scrollY } = window;
  const focus = all(element, REACHED).indexOf(element.getRootNode().activeElement);
  return (next) => {
    for (const { id, value, checked } of typed) {
      const box = next.querySelector(`#${id}`);
      if (box) Object.assign(box, box.type === "checkbox" ? { checked } : { value });
    }
    all(next, "details").forEach((each, place) => change(each, { open: open[place] }));
    all(next, REACHED)[focus]?.focus({ preventScroll: true });
    scrollTo(scrollX, scrollY);
  };
}
