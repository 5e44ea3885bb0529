// The page's state in the browser, and what is sent to Python once it rests.

const REST = 500;

export class Store {
  constructor(model, lookups, words, presets, state) {
    Object.assign(this, { model, lookups, words, presets, state, views: [], online: true });
    this.sent = [];
    this.asking = null;
  }

  // Change the state. `kind`: "drag" while a thumb moves, "octave" while a gradient does, "set" for a decision.
  act(changes, kind = "set") {
    const before = this.state;
    this.state = { ...before, ...changes };
    this.changed(before, kind);
    if (kind === "set") this.rest();
  }

  pick(index) {
    if (index !== this.state.selected && index < this.state.gradients.length) this.act({ selected: index }, "drag");
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

  tryPreset({ gradients, format, k }) {
    this.problem("");
    this.act({ gradients, format, k, scale: null, selected: 0 });
  }

  // What Python has to read: it answers with look-ups, or with a sentence about what is wrong.
  typeGradients(tokens, box) {
    this.ask(tokens, this.state.scale?.token ?? "", box);
  }

  typeScale(token, box) {
    this.ask(this.state.gradients.map((gradient) => gradient.token), token, box);
  }

  ask(gradients, scale, box) {
    if (!this.online) return this.problem(this.words.say("needsServer"), box);
    this.rest();
    this.asking = box;
    return this.model.send_msg({ gradients, scale });
  }

  answered(problem) {
    this.problem(problem, this.asking);
    if (problem === "") for (const view of this.views) view.taken?.(this.asking);
    this.asking = null;
  }

  problem(sentence, box = null) {
    for (const view of this.views) view.problem?.(sentence, box);
  }

  // New rows from Python: an answer, or something set there; not the echo of what was sent from here.
  arrived({ gradients, scale }) {
    const echo = this.sent.indexOf(fingerprint(gradients, scale));
    if (echo >= 0) return void this.sent.splice(0, echo + 1);
    const before = this.state;
    const grown = gradients.length > before.gradients.length;
    const selected = grown ? gradients.length - 1 : Math.max(0, Math.min(before.selected, gradients.length - 1));
    this.state = { ...before, gradients, scale, selected, k: scale ? nearest(scale) : before.k };
    this.changed(before, "set");
    return undefined;
  }

  restSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rest(), REST);
  }

  rest() {
    clearTimeout(this.timer);
    if (this.online) this.send();
    for (const view of this.views) view.rested?.();
  }

  send() {
    const { gradients, scale, k, format, selected, theme } = this.state;
    const tokens = gradients.map((gradient) => gradient.token);
    const next = { log2_scale: k, typed_scale: scale?.token ?? "", format, selected, theme };
    const sameList = tokens.join() === this.model.gradients.join() && next.typed_scale === this.model.typed_scale;
    if (!sameList) this.sent.push(fingerprint(gradients, scale));
    if (tokens.join() !== this.model.gradients.join()) this.model.gradients = tokens;
    for (const [name, value] of Object.entries(next)) {
      if (this.model[name] !== value) this.model[name] = value;
    }
  }

  changed(before, kind) {
    for (const view of this.views) view.changed(before, kind);
  }
}

const fingerprint = (gradients, scale) => JSON.stringify([gradients.map((gradient) => gradient.token), scale?.token ?? ""]);
const nearest = (scale) => Math.max(-40, Math.min(40, Math.round(scale.log2)));
