// How far a reader has come with a scenario: what is covered, and what was predicted. Nothing of it is kept or sent.

// The steps of a lecture; up to `predict` what happens is covered.
export const LECTURE = ["describe", "predict", "show", "explain", "next"];

const FIRST_SHOWN = LECTURE.indexOf("show"), FIRST_EXPLAINED = LECTURE.indexOf("explain");

export class Lessons {
  constructor({ scenarios }) {
    Object.assign(this, { scenarios, of: "", challenge: null });
    this.forget();
  }

  forget() {
    Object.assign(this, { picked: null, committed: false, explained: false, shown: false, step: 0, tally: {} });
  }

  // Another scenario, or another mode of going through it, begins anew.
  follow({ scenario, mode, gradients, format }) {
    const of = `${scenario} ${mode}`;
    if (of !== this.of) this.forget();
    this.of = of;
    if (this.challenge !== dared({ gradients, format })) this.challenge = null;
  }

  scenario({ scenario }) {
    return this.scenarios.find(({ id }) => id === scenario) ?? null;
  }

  // Whether the view that is shown is not the one that the question is about.
  isElsewhere(state) {
    const lesson = this.scenario(state);
    return lesson !== null && lesson.view !== state.view;
  }

  // Whether there is nothing but the question to be seen.
  covers(state) {
    if (!this.scenario(state)) return false;
    return state.mode === "predict" ? !this.committed : state.mode === "present" && this.step < FIRST_SHOWN;
  }

  // Whether the window is still to be found.
  hidesWindow(state) {
    if (state.view !== "window" || this.shown) return false;
    if (this.challenge) return true;
    return Boolean(this.scenario(state)?.seeks) && state.mode !== "play" && !this.explains(state);
  }

  explains(state) {
    return state.mode === "present" ? this.step >= FIRST_EXPLAINED : this.explained;
  }

  // A scale at which the hand rests counts as found, one that is passed over does not.
  found(state, allSurvive) {
    if (allSurvive && this.hidesWindow(state)) this.shown = true;
    return this.shown;
  }

  count(letter, by) {
    this.tally[letter] = Math.max(0, (this.tally[letter] ?? 0) + by);
  }

  dare(state) {
    this.forget();
    this.challenge = dared(state);
  }
}

// The list and the format that a challenge is set in; in others it is no longer the same.
const dared = ({ gradients, format }) => [format, ...gradients.map(({ token }) => token)].join();
