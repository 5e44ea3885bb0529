// What tells that numbers came with the page: a word, and where there is room a sentence.

import { html } from "./dom.js";

export function recordedMark(words, sentence) {
  return html("p", { class: "recorded quiet" }, html("strong", {}, words.say("recorded")), " ", html("span", {}, sentence));
}
