// Decisions, and undoing them. While a thumb is dragged the current history entry follows it; letting
// go puts that entry back as it was and adds one, so Back undoes one decision, not one notch.
//
// In a frame the history belongs to the host's reader, so there decisions are kept in memory alone.

import { CHOSEN } from "./shared.js";

const PACE = 250;

export class Timeline {
  constructor(write, restore, { owned, hash }) {
    Object.assign(this, { write, restore, owned, hash });
    this.entries = [];
    this.index = -1;
    if (owned) addEventListener("popstate", ({ state }) => this.arrived(state?.lossscale));
  }

  begin(state) {
    const kept = this.owned ? history.state?.lossscale : null;
    this.index = kept?.index ?? 0;
    this.entries[this.index] = snapshot(state);
    this.put("replaceState", this.index, null);
  }

  // A hash was followed that `hashchange` has yet to tell of; until then the entry that is there is the hash's.
  get followed() {
    return !history.state?.lossscale && location.hash.includes("=");
  }

  // In the page's own history that entry is not to be written over.
  get waits() {
    return this.owned && this.followed;
  }

  drag(state) {
    if (!this.owned || this.waits || this.pacing) return;
    this.pacing = setTimeout(() => { this.pacing = null; }, PACE);
    this.dragged = true;
    this.put("replaceState", this.index, this.write(state));
  }

  rest(state) {
    if (this.waits) return;
    const now = snapshot(state), before = this.entries[this.index];
    if (this.dragged) this.put("replaceState", this.index, this.write({ ...state, ...before }));
    this.dragged = false;
    if (same(now, before)) return;
    if (this.unfinished) {
      this.unfinished = false;
      this.keep(state);
      return;
    }
    this.entries.length = this.index + 1;
    this.entries.push(now);
    this.index += 1;
    this.put("pushState", this.index, this.write(state));
  }

  // An entry that the browser made is given the state it stands for; `unfinished` while Python still reads it.
  adopt(state, unfinished) {
    this.index += 1;
    this.unfinished = unfinished;
    this.dragged = false;
    this.entries.length = this.index;
    this.keep(state);
  }

  // What is no decision of its own, such as whose journey is shown, goes into the entry that is there.
  note(state) {
    if (!this.waits) this.keep(state);
  }

  keep(state) {
    this.entries[this.index] = snapshot(state);
    this.put("replaceState", this.index, this.write(state));
  }

  undo() {
    this.go(-1);
  }

  redo() {
    this.go(1);
  }

  go(step) {
    const goal = this.index + step;
    // After a reload the entries before this one are the browser's to give back.
    if (!this.entries[goal] && !(this.owned && step < 0 && goal >= 0)) return;
    if (this.owned) history.go(step);
    else this.arrived({ index: goal, state: this.entries[goal] });
  }

  arrived(entry) {
    if (!entry) return;
    this.index = entry.index;
    this.entries[entry.index] ??= entry.state;
    this.restore(this.entries[entry.index]);
  }

  put(method, index, link) {
    if (!this.owned) return;
    try {
      history[method]({ lossscale: { index, state: this.entries[index] } }, "", link === null ? undefined : this.hash ? link.replace("?", "#") : link);
    } catch {
      // Some sandboxes and browsers under load refuse; undo then works from memory.
      this.owned = false;
    }
  }
}

const KEPT = ["gradients", "scale", ...CHOSEN.map(([, key]) => key)];
const snapshot = (state) => Object.fromEntries(KEPT.map((name) => [name, state[name]]));
const same = (a, b) => KEPT.filter((name) => name !== "selected").every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));
