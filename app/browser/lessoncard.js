// A scenario in the order predict, observe, explain; and the same as the steps of a lecture.

import { change, html, write } from "./dom.js";
import { LECTURE } from "./lessons.js";
import { power, pretty } from "./words.js";

export class LessonCard {
  constructor(store, page) {
    Object.assign(this, { store, page, lessons: store.lessons });
    this.seen = html("p", { class: "lesson-seen" });
    this.element = html("section", { class: "card lesson", "aria-labelledby": "lse-lesson-title" });
    this.element.addEventListener("click", (event) => this.clicked(event.target.closest("[data-act]")));
  }

  // Whether there is a scenario to go through.
  get going() {
    const { state } = this.store;
    return (this.lessons.challenge !== null && state.view === "window") || (state.mode !== "play" && this.lessons.scenario(state) !== null);
  }

  // What the card shows hangs on this; it is built anew only when it changes, so that the focus stays.
  show() {
    const { lessons, going } = this, { state } = this.store, away = lessons.isElsewhere(state);
    const key = JSON.stringify([lessons.of, lessons.committed, lessons.explained, lessons.shown, lessons.step, lessons.challenge, going, away]);
    if (key !== this.shown) {
      this.shown = key;
      this.element.replaceChildren(...(going ? this.content(state) : []));
    }
    write(this.seen, lessons.covers(state) || !going || away ? "" : this.store.words.say("lessonSeen", { outcome: this.page.shown.title() }));
    for (const count of this.element.querySelectorAll("[data-count]")) write(count, this.store.words.number(lessons.tally[count.dataset.count] ?? 0));
  }

  content(state) {
    if (this.lessons.challenge) return this.challenge();
    const lesson = this.lessons.scenario(state);
    if (this.lessons.isElsewhere(state)) return this.elsewhere(lesson);
    return [...this.heading(lesson), ...(state.mode === "present" ? this.lecture(lesson) : this.lessons.committed ? this.observe(lesson) : this.ask(lesson))];
  }

  say(lesson, part) {
    return this.store.words.scenario(lesson.id, part);
  }

  title(lesson) {
    return html("h2", { id: "lse-lesson-title" }, this.say(lesson, "title"));
  }

  heading(lesson) {
    const { words } = this.store, { classroom, shown } = this.page;
    return [
      this.title(lesson),
      html("p", { class: "lesson-question" }, this.say(lesson, "question")),
      html("p", { class: "quiet" }, words.say("lessonGiven", { given: shown.given(classroom.opening(lesson.id)) })),
    ];
  }

  // Over another view the question would speak of something that is not there. A lecture goes on all the same.
  elsewhere(lesson) {
    const { words, state } = this.store, lectures = state.mode === "present";
    return [this.title(lesson), ...(lectures ? [this.steps()] : []),
      html("p", {}, words.say("lessonElsewhere", { view: words.say(`view-${lesson.view}`) })),
      html("div", { class: "lesson-row" }, this.button("return", "lessonReturn"), ...(lectures ? this.turns() : []))];
  }

  button(act, key, main = false) {
    return html("button", { type: "button", class: main ? "lesson-main" : "lesson-more", "data-act": act }, this.store.words.say(key));
  }

  // Predict

  ask(lesson) {
    const { words } = this.store;
    const options = lesson.predictions.map((id) => html("label", { class: "prediction" },
      html("input", { type: "radio", name: "lse-prediction", value: id, checked: id === this.lessons.picked, onchange: () => this.pick(id) }),
      html("span", {}, html("strong", { "aria-hidden": "true" }, id.toUpperCase()), " ", this.say(lesson, id))));
    const commit = this.button("commit", "lessonCommit", true);
    commit.disabled = !this.lessons.picked;
    return [html("fieldset", { class: "predictions" }, html("legend", {}, words.say("lessonPredict")), ...options),
      html("div", { class: "lesson-row" }, commit, this.button("skip", "lessonSkip"))];
  }

  pick(id) {
    this.lessons.picked = id;
    this.element.querySelector("[data-act=commit]").disabled = false;
  }

  // Observe, then explain

  observe(lesson) {
    const { words } = this.store, { lessons } = this;
    const predicted = lessons.picked ? words.say("lessonPredicted", { prediction: this.say(lesson, lessons.picked) }) : words.say("lessonSkipped");
    return [html("p", {}, predicted), this.seen, ...(lessons.explained
      ? [...this.explanation(lesson, [lessons.picked]), ...this.next(lesson)]
      : [html("div", { class: "lesson-row" }, ...this.unveil(), this.button("explain", "lessonExplain", true))])];
  }

  // A way to see the window that is still to be found.
  unveil() {
    return this.lessons.hidesWindow(this.store.state) ? [this.button("window", "lessonWindow")] : [];
  }

  // What was to be found, and the idea behind each of some wrong predictions.
  explanation(lesson, picked) {
    const { words } = this.store, answer = words.answer(lesson);
    const wrong = lesson.predictions.filter((id) => id !== answer.right && picked.includes(id));
    return [
      html("p", { class: "lesson-right", tabindex: -1 }, words.say("lessonRight", { prediction: this.say(lesson, answer.right) })),
      ...wrong.map((id) => html("p", { class: "lesson-misconception" }, answer[id])),
      html("p", { class: "lesson-found" }, answer.found),
      html("p", { class: "lesson-reflect" }, html("strong", {}, words.say("lessonReflect")), " ", answer.reflect),
      html("details", { class: "more" }, html("summary", {}, words.say("lessonAnswer")), html("p", {}, answer.answer)),
    ];
  }

  next(lesson) {
    const { words } = this.store;
    const buttons = lesson.next.map((id) => html("button", { type: "button", class: "lesson-more", "data-act": "go", "data-id": id },
      words.say("lessonTry", { title: words.scenario(id, "title") })));
    return [html("div", { class: "lesson-row" }, ...buttons, this.button("play", "lessonPlay"))];
  }

  // Lecture

  lecture(lesson) {
    const { words } = this.store, { step } = this.lessons;
    const parts = {
      describe: () => [html("p", {}, words.say("lectureDescribe"))],
      predict: () => [html("p", {}, words.say("lectureVote")), this.votes(lesson, true)],
      show: () => [this.seen],
      explain: () => [this.votes(lesson, false), this.seen, ...this.explanation(lesson, lesson.predictions)],
      next: () => [html("p", {}, words.say("lectureNext")), ...this.next(lesson)],
    };
    return [this.steps(), ...parts[LECTURE[step]](), html("div", { class: "lesson-row" }, ...this.turns(LECTURE[step] === "show" ? this.unveil() : []))];
  }

  steps() {
    const { words } = this.store, { step } = this.lessons;
    return html("ol", { class: "lecture-steps" }, ...LECTURE.map((name, place) => html("li", { "aria-current": place === step ? "step" : null },
      words.say(`lecture-${name}`))));
  }

  // To the steps before and after this one, with what can be done in it between them.
  turns(between = []) {
    const { step } = this.lessons;
    return [...(step > 0 ? [this.button("back", "lectureBack")] : []), ...between, ...(step < LECTURE.length - 1 ? [this.button("forward", "lectureForward", true)] : [])];
  }

  // A row for each prediction, with how many of the class made it.
  votes(lesson, open) {
    const { words } = this.store;
    return html("ul", { class: "votes" }, ...lesson.predictions.map((id) => {
      const count = html("span", { class: "vote-count", "data-count": id });
      const label = [html("strong", {}, id.toUpperCase()), html("span", {}, this.say(lesson, id)), count];
      if (!open) return html("li", {}, html("div", { class: "vote" }, ...label));
      return html("li", {}, html("button", { type: "button", class: "vote", "data-act": "vote", "data-id": id }, ...label),
        html("button", { type: "button", class: "unvote", "data-act": "unvote", "data-id": id, "aria-label": words.say("lectureUnvote", { letter: id.toUpperCase() }) }, "−"));
    }));
  }

  // A free challenge: find the window of two gradients.
  challenge() {
    const { words, state } = this.store, { lessons } = this;
    const found = lessons.shown && this.page.window.allSurvive();
    const text = !lessons.shown ? words.say("challengeLine") : found ? words.say("challengeFound", { scale: state.scale ? pretty(state.scale.token) : power(state.k) }) : words.say("challengeShown");
    return [html("h2", { id: "lse-lesson-title" }, words.say("challengeTitle")), html("p", {}, text), this.seen,
      html("div", { class: "lesson-row" }, ...this.unveil(), this.button("dare", "challengeAgain", lessons.shown), this.button("leave", "challengeLeave"))];
  }

  clicked(button) {
    if (!button) return;
    const { lessons, page } = this, { act, id } = button.dataset;
    const acts = {
      commit: () => { lessons.committed = true; },
      skip: () => Object.assign(lessons, { picked: null, committed: true }),
      window: () => { lessons.shown = true; },
      explain: () => { lessons.explained = true; },
      back: () => this.move(-1),
      forward: () => this.move(1),
      vote: () => lessons.count(id, 1),
      unvote: () => lessons.count(id, -1),
      return: () => this.store.act({ view: lessons.scenario(this.store.state).view }),
      go: () => page.classroom.open(id),
      play: () => this.store.act({ mode: "play" }),
      dare: () => page.classroom.dare(),
      leave: () => { lessons.challenge = null; },
    };
    acts[act]();
    this.redraw(button);
  }

  // Where `focus` is gone, it goes to what there is to do next.
  redraw(focus) {
    const { page } = this;
    page.draw();
    page.entitle();
    page.tellSoon();
    if (focus && !focus.isConnected) this.takeFocus();
  }

  takeFocus() {
    const { lessons, element } = this, { state } = this.store;
    const predicted = state.mode === "predict" && lessons.committed;
    const tries = !this.going || (lessons.challenge ? !lessons.shown : predicted && !lessons.explained);
    const next = tries ? this.page.shown.chart.slider.input
      : predicted ? element.querySelector(".lesson-right") : element.querySelector("input, .lesson-main:enabled") ?? element.querySelector(".lesson-more");
    change(element, { tabindex: -1 });
    for (const each of [element, next]) each?.focus({ preventScroll: true });
  }

  move(by) {
    const { lessons } = this;
    lessons.step = Math.max(0, Math.min(LECTURE.length - 1, lessons.step + by));
  }

  // Keys of a lecture: those of a presenter's remote, and a letter for each vote unless it is typed. Whether the key
  // was one of them.
  key(event, typed) {
    const { lessons } = this, { state } = this.store, lesson = lessons.scenario(state);
    if (!lesson || state.mode !== "present" || event.ctrlKey || event.metaKey || event.altKey) return false;
    const steps = { PageDown: 1, PageUp: -1 };
    const letter = event.key.toLowerCase();
    const votes = LECTURE[lessons.step] === "predict" && !lessons.isElsewhere(state) && !typed;
    if (event.key in steps) this.move(steps[event.key]);
    else if (votes && lesson.predictions.includes(letter)) lessons.count(letter, event.shiftKey ? -1 : 1);
    else return false;
    this.redraw(this.page.element.getRootNode().activeElement);
    return true;
  }
}
