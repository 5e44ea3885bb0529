// The training view: real runs side by side, and what the loss scale does to every step.

import { AutocastCard } from "./autocastcard.js";
import { Choice } from "./choices.js";
import { html } from "./dom.js";
import { LossChart } from "./losschart.js";
import { LostMap } from "./lostmap.js";
import { OverlayCard } from "./overlaycard.js";
import { RunCard } from "./runcard.js";
import { runSnippet, runsCsv, runsJson } from "./runfiles.js";
import { RunMaker } from "./runmaker.js";
import { ALL_RUNS } from "./runs.js";
import { RunTable, StepCard, runText, stepText, verdict } from "./runtable.js";
import { SafeChart } from "./safechart.js";
import { ScalerCard } from "./scalercard.js";
import { numberOf, scalerName, settingsOf, settingsText } from "./settingsform.js";
import { StepSlider } from "./stepslider.js";
import { StepTable } from "./steptable.js";
import { TraceChart } from "./tracechart.js";
import { TryRuns } from "./tryruns.js";
import { aloud, power, scaleEquation, spoken } from "./words.js";

const MAPPED = ["unscaled", "static", "dynamic"];

export class TrainingView {
  constructor(store, { settings, recorded, trainingTries }) {
    const { words } = store;
    Object.assign(this, { store, settings, recorded, step: 1, mapped: "unscaled" });
    this.maker = store.maker ??= new RunMaker(store, recorded.runs ?? {});
    this.runs = this.maker.runs;
    this.chart = new SafeChart(store);
    this.loss = new LossChart(store);
    this.trace = new TraceChart(store);
    this.map = new LostMap(store);
    this.slider = new StepSlider(words.say("stepName"), (step) => this.look(step));
    for (const chart of [this.loss, this.trace, this.map]) chart.onstep = (step) => this.look(step);
    this.mapChoice = new Choice("mapped", words.say("mapLegend"), MAPPED.map((value) => ({ value, label: words.say(`run-${value}-short`) })), (name) => {
      this.mapped = name;
      this.refresh();
    });
    this.results = new RunTable(store);
    this.stepCard = new StepCard(store);
    this.autocast = new AutocastCard(store);
    this.run = new RunCard(store, settings.run, this.maker);
    this.scaler = new ScalerCard(store, settings.policy, settings.presets);
    this.overlay = new OverlayCard(store, settings.presets);
    this.table = new StepTable(store);
    this.tries = new TryRuns(store, trainingTries);
    const card = (name, title, ...parts) => html("section", { class: `card ${name}`, "aria-labelledby": `lse-${name}-title` },
      html("h2", { id: `lse-${name}-title` }, title), ...parts);
    this.left = [
      card("window safe-card", words.say("safeTitle"), this.chart.element),
      card("landing-card loss-card", words.say("lossTitle"), this.loss.element, this.loss.keys),
      card("landing-card trace-card", words.say("traceTitle"), this.trace.element, this.slider.element, this.trace.lines, this.trace.legend),
      card("landing-card lost-card", words.say("lostTitle"), this.mapChoice.element, this.map.element, this.legend()),
      this.autocast.element,
    ];
    this.right = [this.results.element, this.stepCard.element, this.tries.element, this.run.element, this.scaler.element];
    this.below = [this.overlay.element, this.table.element];
  }

  // Look at the same as a former view, which was in another language.
  follow({ step, mapped, table, overlay, run, scaler }) {
    Object.assign(this, { step, mapped });
    this.table.name = table.name;
    this.overlay.follow(overlay);
    this.run.form.follow(run.form);
    this.scaler.follow(scaler);
  }

  legend() {
    const { words } = this.store;
    return html("p", { class: "lost-legend quiet" }, ...[0, 1, 2, 3, 4].map((level) => html("span", {}, html("i", { class: `lost level-${level}` }), words.say(`lostLevel${level}`))));
  }

  controls() {
    return { run: this.run.element, scaler: this.scaler.element, policies: this.overlay.element, autocast: this.autocast.element, steps: this.table.element };
  }

  current() {
    return Object.fromEntries(ALL_RUNS.map((name) => [name, this.runs.get(name, this.store.state)]));
  }

  // How many steps the settings ask for.
  steps() {
    const defaults = Object.fromEntries(this.settings.run.map((field) => [field.name, field.default]));
    return numberOf(settingsOf(this.store.state.run, defaults).steps);
  }

  rested() {
    this.maker.rest();
  }

  // Steps can arrive faster than they are drawn.
  refresh() {
    if (this.refreshing) return;
    this.refreshing = requestAnimationFrame(() => {
      this.refreshing = null;
      if (this.store.page.shown === this) this.store.page.draw();
    });
  }

  // Drawing

  draw(size) {
    this.maker.open();
    const runs = this.current(), steps = this.steps();
    this.chart.draw(size, runs.dynamic?.end?.safe.some(Boolean) ? runs.dynamic : runs.static);
    this.step = Math.min(this.step, steps);
    this.trace.draw(size, runs, steps);
    this.slider.place(this.trace.axis, steps);
    if (this.store.state.embed) return;
    this.loss.draw(size, runs, steps);
    this.map.draw(size, runs[this.mapped], steps);
    this.overlay.draw(size, runs.dynamic, this.recorded.overlay);
  }

  show(drawn) {
    const runs = this.current(), { state } = this.store;
    this.results.show(runs, this.maker.busy, ALL_RUNS.some((name) => this.runs.isRecorded(name, state)));
    this.autocast.show(runs);
    this.table.show(runs);
    this.scaler.show();
    this.tries.show();
    this.mapChoice.show(this.mapped);
    this.run.show(this.progress(runs));
    if (!drawn) return;
    this.chart.show();
    this.chart.slider.show({ k: state.k, scale: null }, this.spoken());
    this.showStep();
  }

  progress(runs) {
    const { state, model, online } = this.store;
    const done = ALL_RUNS.reduce((sum, name) => sum + (runs[name]?.loss.length ?? 0), 0);
    const missing = this.runs.missing(state);
    const note = this.maker.busy ? "going" : !missing.length ? "" : model.saved ? "unrecorded" : !online ? "offline" : this.maker.stands ? "stopped" : "";
    return { going: this.maker.busy, share: done / (ALL_RUNS.length * this.steps()), note };
  }

  look(step) {
    if (step === this.step) return;
    this.step = step;
    this.showStep();
  }

  showStep() {
    const { words } = this.store;
    const runs = this.current(), { step } = this;
    for (const chart of [this.loss, this.trace, this.map]) if (chart.axis) chart.showStep(step);
    this.map.showShares(runs[this.mapped]?.lost?.map((column) => column[step - 1] ?? null));
    this.stepCard.show(runs, step);
    this.slider.show(step, aloud(words.say("stepSpoken", { step: words.number(step), dynamic: stepText("dynamic", runs.dynamic, step, this.store) }), words));
  }

  // What is said and saved

  given({ format, policy, run }) {
    const { words, lookups } = this.store;
    return words.say("givenRuns", { format: lookups.formats[format].label, scaler: scalerName(policy, words), settings: settingsText(run, words) || words.say("givenDefault") });
  }

  title() {
    const about = this.store.lessons.scenario(this.store.state)?.about, run = this.current()[about];
    if (run?.end) return runText(about, run, this.store);
    return verdict(this.current(), this.store, this.maker.busy).title.replace(/^[^\p{L}\p{N}]+/u, "");
  }

  spoken() {
    const { words, state, lookups } = this.store;
    const { dynamic } = this.current();
    const end = dynamic?.end, count = end?.safe[state.k + 40];
    const scale = words.say("spokenScale", { power: spoken(`2^${state.k}`, words), scale: spoken(lookups.scaleText({ ...state, scale: null }), words) });
    return words.say("spokenValue", { scale, outcome: end ? words.say("safeHere", { n: count, count: words.number(count), of: words.number(end.steps) }) : words.say(this.maker.busy ? "runsGoing" : "runsNotMade") });
  }

  scaleText() {
    const { state, lookups, words } = this.store;
    return scaleEquation({ ...state, scale: null }, lookups, words);
  }

  stem() {
    const { state } = this.store;
    return `training-k${state.k}-${state.format}`;
  }

  charts() {
    return [this.chart, this.loss, this.trace, this.map];
  }

  pictureTitle(values) {
    const { words, state } = this.store;
    return words.say("pictureOfRuns", { ...values, scaler: scalerName(state.policy, words), power: power(state.k) });
  }

  content(kind, exports) {
    const runs = this.current(), { state, page } = this.store;
    if (kind === "NumPy") return runSnippet(state, this.settings, exports.format());
    if (!Object.values(runs).some((run) => run?.loss.length)) return exports.nothing();
    return kind === "CSV" ? runsCsv(runs) : runsJson(runs, page.link());
  }
}
