// Having Python make the runs that the training view shows. It goes on whatever language they are shown in.

import { Runs } from "./runs.js";

export class RunMaker {
  constructor(store, recorded) {
    Object.assign(this, { store, runs: new Runs(recorded), going: null, stopped: null, opened: false });
  }

  get view() {
    return this.store.page.viewOf("training");
  }

  get busy() {
    return this.going !== null;
  }

  // The reader has stopped just these runs.
  get stands() {
    return this.stopped === this.wanted();
  }

  // What of the state tells one set of runs from another.
  wanted() {
    const { policy, run, k, format } = this.store.state;
    return JSON.stringify([policy, run, k, format]);
  }

  // The view is shown for the first time.
  open() {
    if (this.opened) return;
    this.opened = true;
    queueMicrotask(() => this.make());
  }

  rest() {
    if (!this.stands) this.make();
  }

  start() {
    this.stopped = null;
    this.make();
  }

  stop() {
    this.stopped = this.wanted();
    this.leave();
    this.view.refresh();
  }

  leave() {
    if (this.going) this.store.cancel(this.going.number);
    this.going = null;
  }

  make() {
    const { store, runs, view } = this, { state } = store, wanted = this.wanted();
    if (this.going?.wanted === wanted) return;
    this.leave();
    const names = runs.missing(state);
    if (!names.length || !store.online) return void view.refresh();
    runs.begin(names, state);
    const { policy, run, k, format } = state;
    view.run.tell("");
    const number = store.question({ train: { policy, run, k, format, runs: names } }, {
      told: (parts) => {
        for (const part of parts) runs.take(part, state);
        this.view.refresh();
      },
      done: ({ problem }) => this.made(problem),
    });
    this.going = { number, wanted };
    view.refresh();
    return undefined;
  }

  made(problem) {
    const { view, store: { page } } = this;
    this.going = null;
    if (problem) view.run.tell(problem);
    view.refresh();
    if (page.shown !== view) return;
    page.entitle();
    page.tellSoon();
  }
}
