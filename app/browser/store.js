// The page's state in the browser, and what is sent to Python once it rests.

import { MOST_GRADIENTS } from "./link.js";

const REST = 500;

export class Store {
  constructor(model, lookups, words, state, live) {
    Object.assign(this, { model, lookups, words, state, live, page: null });
    this.online = !model.saved;
    this.sent = [];
    this.asking = null;
  }

  // Change the state. `kind`: "drag" while a thumb moves, "octave" while a gradient does, "set" for a decision.
  act(changes, kind = "set") {
    const before = this.state;
    this.state = { ...before, ...changes };
    this.page.changed(before, kind);
    if (kind === "set") this.rest();
  }

  pick(index) {
    if (index === this.state.selected || index >= this.state.gradients.length) return;
    if (this.timer) this.rest();
    this.act({ selected: index }, "drag");
    this.page.noted();
  }

  moveGradient(index, octave) {
    const gradient = this.lookups.moved(this.state.gradients[index], octave);
    if (gradient.octave === this.state.gradients[index].octave) return;
    const gradients = this.state.gradients.map((each, place) => (place === index ? gradient : each));
    this.act({ gradients }, "octave");
  }

  removeGradient(index) {
    const gradients = this.state.gradients.filter((_, place) => place !== index);
    const selected = Math.max(0, Math.min(this.state.selected - (index < this.state.selected), gradients.length - 1));
    this.act({ gradients, selected });
  }

  begin({ gradients, format, k }) {
    this.page.problem("");
    this.act({ gradients, format, k, scale: null, selected: 0 });
    this.page.list.forget();
  }

  // A state from the history: its tables are here, or Python makes them again.
  restore(state) {
    const known = state.gradients.every(({ key }) => this.lookups.tracks[key] && (!state.scale || this.lookups.tracks[key + state.scale.key] || this.lookups.tracks[key].special));
    if (known) return this.act(state);
    this.restoring = state;
    return this.online ? this.model.send_msg({ gradients: state.gradients.map(({ token }) => token), scale: state.scale?.token ?? "" }) : null;
  }

  typeGradients(tokens, box) {
    this.ask(tokens, this.state.scale?.token ?? "", box);
  }

  typeScale(token, box) {
    this.ask(this.state.gradients.map((gradient) => gradient.token), token, box);
  }

  // What is typed Python reads: it answers with look-ups, or with a sentence about what is wrong.
  ask(gradients, scale, box) {
    if (!this.online) return this.readAlone(gradients, scale, box);
    this.rest();
    this.asking = box;
    this.typing = this.state.gradients;
    return this.model.send_msg({ gradients, scale });
  }

  // Without Python only numbers whose tables are here can be read.
  readAlone(entries, scale, box) {
    const tokens = entries.flatMap((entry) => entry.split(/[\s,;]+/).filter(Boolean));
    const listed = new Map(this.state.gradients.map((gradient) => [gradient.token, gradient]));
    const gradients = tokens.map((token) => listed.get(token) ?? this.lookups.find(token));
    const newScale = scale === (this.state.scale?.token ?? "") ? {} : this.slidingScale(scale);
    if (!gradients.every(Boolean) || gradients.length > MOST_GRADIENTS || !newScale) return this.page.alone(box);
    const selected = Math.min(this.state.selected, Math.max(0, gradients.length - 1));
    this.page.problem("");
    this.act({ gradients, selected, ...newScale });
    return this.page.taken(box);
  }

  // A typed scale that is on the slider, being a power of two.
  slidingScale(token) {
    const power = this.lookups.find(token);
    const onSlider = power && !power.negative && this.lookups.track(power).significand === 1 && Math.abs(power.octave) <= 40;
    return onSlider ? { k: power.octave, scale: null } : null;
  }

  answered(problem) {
    this.page.problem(problem, this.asking);
    if (problem === "") this.page.taken(this.asking);
    this.asking = null;
    // The rows of an answer come with it, and are taken up just after.
    setTimeout(() => { this.typing = null; });
  }

  // New rows from Python: an answer, or something set there; not the echo of what was sent from here.
  arrived({ gradients, scale }) {
    const echo = this.sent.indexOf(fingerprint(gradients, scale));
    if (echo >= 0) return void this.sent.splice(0, echo + 1);
    const { restoring, typing, state } = this;
    // Two changes in one message are both seen as the last one.
    if (!restoring && fingerprint(gradients, scale) === fingerprint(state.gradients, state.scale)) return undefined;
    this.restoring = this.typing = null;
    if (restoring) return this.act({ ...restoring, gradients, scale });
    const now = typing && typing !== state.gradients ? merged(state.gradients, typing, gradients) : gradients;
    const last = now.length - 1;
    const selected = typing && now.length > state.gradients.length ? last : Math.max(0, Math.min(typing ? state.selected : this.model.selected, last));
    return this.act({ gradients: now, scale, selected, k: scale ? nearest(scale) : state.k });
  }

  restSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rest(), REST);
  }

  rest() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.online) this.send();
    this.page.rested();
  }

  send() {
    const { gradients, scale, k, format, selected, theme } = this.state;
    const tokens = gradients.map((gradient) => gradient.token);
    const next = { log2_scale: k, typed_scale: scale?.token ?? "", format, selected, theme };
    const newList = tokens.join() !== this.model.gradients.join();
    if (newList || next.typed_scale !== this.model.typed_scale) this.sent.push(fingerprint(gradients, scale));
    if (newList) this.model.gradients = tokens;
    for (const [name, value] of Object.entries(next)) {
      if (this.model[name] !== value) this.model[name] = value;
    }
  }
}

// What Python read, put into a list that has changed since it was asked: `before` is the list it was asked with.
function merged(now, before, read) {
  const same = (a, b) => a.token === b.token;
  let start = 0, end = 0;
  while (start < Math.min(before.length, read.length) && same(before[start], read[start])) start += 1;
  while (end < Math.min(before.length, read.length) - start && same(before.at(-1 - end), read.at(-1 - end))) end += 1;
  const replaced = before.slice(start, before.length - end), added = read.slice(start, read.length - end);
  const place = replaced.length ? now.indexOf(replaced[0]) : -1;
  const list = [...now];
  list.splice(place < 0 ? now.length : place, place < 0 ? 0 : replaced.length, ...added);
  return list.slice(0, MOST_GRADIENTS);
}

const fingerprint = (gradients, scale) => JSON.stringify([gradients.map((gradient) => gradient.token), scale?.token ?? ""]);
const nearest = (scale) => Math.max(-40, Math.min(40, Math.round(scale.log2)));
