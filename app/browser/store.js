// The page's state in the browser, and what is sent to Python once it rests.

import { MOST_GRADIENTS } from "./link.js";
import { CHOSEN, LISTED } from "./shared.js";

const REST = 500;

export class Store {
  constructor(model, lookups, words, state, live, distributions) {
    Object.assign(this, { model, lookups, words, state, live, distributions, page: null });
    this.online = !model.saved;
    this.questions = new Map();
    this.asked = 0;
    this.told = this.modelled();
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

  begin({ id, ...state }) {
    this.page.problem("");
    this.turnTo({ scenario: "", mode: "play", ...state, scale: null, selected: 0 });
  }

  // Another state altogether: what is still being read belonged to the former one.
  turnTo(state) {
    this.forget();
    this.act(state);
    this.page.window.list.forget();
  }

  // A state from the history: its tables are here, or Python makes them again.
  restore(state) {
    this.forget();
    if (this.lookups.has(state.gradients, state.scale)) this.act(state);
    else if (this.online) this.read(state.gradients.map(({ token }) => token), state.scale?.token ?? "", { restoring: state });
  }

  typeGradients(tokens, box) {
    this.ask(tokens, this.state.scale?.token ?? "", box);
  }

  typeScale(token, box) {
    this.ask(this.state.gradients.map((gradient) => gradient.token), token, box);
  }

  // What is typed Python reads: it answers with look-ups, or with a sentence about what is wrong.
  ask(typed, typedScale, box) {
    const gradients = typed.map((text) => this.words.plain(text)), scale = this.words.plain(typedScale);
    if (!this.online) return this.readAlone(gradients, scale, box);
    return this.read(gradients, scale, { box, text: box.value });
  }

  read(gradients, scale, question) {
    this.question({ gradients, scale }, { before: this.state, ...question });
  }

  // What is shown of many gradients; asked for, where it is not here yet.
  distribution() {
    const { data } = this.state;
    const here = this.distributions.get(data);
    const asked = [...this.questions.values()].some((question) => question.data === data);
    if (!here && !asked && this.online) this.question({ data }, { data });
    return here;
  }

  // A file that was sent to the server is counted there.
  readUpload(upload) {
    this.question({ upload }, { upload });
    this.reading = this.asked;
  }

  cancelUpload() {
    if (this.reading) this.model.send_msg({ cancel: this.reading });
    this.questions.delete(this.reading);
    this.reading = null;
  }

  // Settings of a run or a scaler go from their form into the state once Python can read them.
  settle(changes, form) {
    const { policy, run } = { ...this.state, ...changes };
    if (!this.online) return form.tell(this.words.say(this.model.saved ? "settingsNeedLive" : "settingsNeedServer"));
    const done = ({ problem }) => (problem ? form.tell(problem) : this.act(changes));
    return void this.question({ settings: { policy, run } }, { form, done });
  }

  // Steps of training runs, told while they are made.
  trained({ of, training }) {
    this.questions.get(of)?.told(training);
  }

  // What is no longer wanted; the answer, if it still comes, is for nobody.
  cancel(number) {
    if (!this.questions.delete(number)) return;
    this.model.send_msg({ cancel: number });
  }

  progressed({ of, progress }) {
    if (this.questions.has(of)) this.page.distribution.data.wait(undefined, progress);
  }

  counted({ data, upload }, text, problem) {
    if (upload) {
      this.reading = null;
      this.page.distribution.data.failed(problem);
    } else if (problem) this.page.distribution.data.tell(problem);
    if (!text) return;
    const name = this.distributions.take(data, text);
    if (upload) this.act({ data: name });
    else this.page.came();
  }

  // A link whose numbers are Python's to read. A `whole` one with any part that is bad changes nothing.
  openLink(link, whole) {
    this.forget();
    this.question({ link }, { whole: whole === true, before: this.state });
    this.page.reading(true);
  }

  forget() {
    for (const [number, { box, form, restoring, whole }] of this.questions) {
      if (box || form || restoring || whole !== undefined) this.questions.delete(number);
      if (whole !== undefined) this.page.reading(false);
      form?.forget();
    }
  }

  // Answers come in the order of the questions, each under its number. A question with `done` takes its own answer.
  question(message, question) {
    this.asked += 1;
    this.questions.set(this.asked, question);
    this.model.send_msg({ ask: this.asked, language: this.words.language, ...message });
    return this.asked;
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
    return this.page.taken(box, box.value);
  }

  // A typed scale that is on the slider, being a power of two.
  slidingScale(token) {
    const power = this.lookups.find(token);
    const onSlider = power && !power.negative && this.lookups.track(power).significand === 1 && Math.abs(power.octave) <= 40;
    return onSlider ? { k: power.octave, scale: null } : null;
  }

  answered({ answer, ...message }) {
    const { problem = "", distribution, cancelled, rows, tracks, ignored, log2_scale: k, ...chosen } = message;
    const question = this.questions.get(answer);
    if (!question) return;
    this.questions.delete(answer);
    if (question.done) return void question.done(message);
    if (question.data || question.upload) return void this.counted(question, cancelled ? null : distribution, problem);
    const { box, text, restoring, whole, before } = question;
    if (whole !== undefined) this.page.reading(false);
    if (ignored?.length && whole) return;
    if (problem || box) this.page.problem(problem, box);
    if (problem) return;
    this.lookups.take(JSON.parse(tracks));
    const { gradients, scale } = JSON.parse(rows);
    if (ignored) {
      this.turnTo({ ...chosen, k, gradients, scale, ...this.changedSince(before) });
      this.page.ignored(ignored);
    } else if (restoring) this.act({ ...restoring, gradients, scale });
    else this.takeUp(question, gradients, scale);
    if (box) this.page.taken(box, text);
  }

  // What the reader has changed while a link was read; the numbers themselves are the link's.
  changedSince(before) {
    const { gradients, scale, ...state } = this.state;
    return Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== before[name]));
  }

  // There will be no more answers.
  goOffline() {
    this.online = false;
    this.page.reading(false);
    for (const { box, done } of this.questions.values()) {
      if (box) this.page.alone(box);
      done?.({ problem: this.words.say("answerLost") });
    }
    this.questions.clear();
  }

  // What was read goes into the state as it is now, which may not be the one it was typed in.
  takeUp({ before, box, text }, read, readScale) {
    const { state } = this;
    const gradients = merged(state.gradients, before.gradients, read);
    const changed = (readScale?.token ?? "") !== (before.scale?.token ?? "");
    const scale = changed ? readScale : state.scale;
    // Two answers together can be more than the list holds, or need tables that neither brought.
    if (gradients.length > MOST_GRADIENTS || !this.lookups.has(gradients, scale)) {
      return this.read(gradients.map(({ token }) => token), scale?.token ?? "", { box, text });
    }
    const last = gradients.length - 1;
    const selected = gradients.length > state.gradients.length ? last : Math.min(state.selected, Math.max(0, last));
    return this.act({ gradients, scale, selected, k: changed && scale ? nearest(scale) : state.k });
  }

  // The state that Python has, in its own words.
  modelled() {
    const { model } = this;
    return Object.fromEntries([...LISTED, ...CHOSEN.map(([name]) => name)].map((name) => [name, model[name]]));
  }

  // Python has set something, or tells again what was sent from here. One change comes as several events, in any order.
  arrived() {
    const { lookups, model, told } = this;
    const { gradients, scale } = JSON.parse(model.rows);
    lookups.take(JSON.parse(model.tracks));
    const now = this.modelled();
    const changed = (name) => JSON.stringify(now[name]) !== JSON.stringify(told[name]);
    const listed = LISTED.some(changed);
    // The rows of a list can come before it or after.
    if (listed && fingerprint(now) !== fingerprint({ gradients: gradients.map(({ token }) => token), typed_scale: scale?.token ?? "" })) return;
    const changes = Object.fromEntries(CHOSEN.filter(([name]) => changed(name)).map(([name, key]) => [key, model[name]]));
    this.told = now;
    if ("k" in changes && !now.typed_scale) changes.scale = null;
    if (listed) {
      const selected = Math.max(0, Math.min(now.selected, gradients.length - 1));
      this.turnTo({ ...changes, gradients, scale, selected, k: scale ? nearest(scale) : changes.k ?? this.state.k });
    } else if (Object.keys(changes).length) this.act(changes);
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
    const { gradients, scale, ...rest } = this.state;
    const tokens = gradients.map((gradient) => gradient.token);
    const next = { ...Object.fromEntries(CHOSEN.map(([name, key]) => [name, rest[key]])), gradients: tokens, typed_scale: scale?.token ?? "" };
    this.told = next;
    for (const [name, value] of Object.entries(next)) {
      if (String(this.model[name]) !== String(value)) this.model[name] = value;
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
  return list;
}

const fingerprint = ({ gradients, typed_scale: scale }) => JSON.stringify([gradients, scale]);
const nearest = (scale) => Math.max(-40, Math.min(40, Math.round(scale.log2)));
