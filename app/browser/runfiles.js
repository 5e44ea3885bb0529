// Training runs as files: the columns as they came, and the Python that makes the runs again.

import { numberOf, settingsOf } from "./settingsform.js";

const COLUMNS = ["run", "step", "loss", "log2_scale", "action", "percent_lost", "window_from_log2", "window_to_log2"];
const ACTIONS = { S: "step", K: "skip", R: "raise" };

export function runsCsv(runs) {
  const rows = Object.entries(runs).flatMap(([name, run]) => (run ? run.loss.map((loss, index) => {
    const log2 = run.scales.findLast(([from]) => from <= index + 1)[1], window = run.windows?.[index], [from, to] = window?.length > 2 ? window : [];
    return [name, index + 1, loss ?? "nan", log2 ?? "", ACTIONS[run.did[index]], run.lostOfAll?.[index] ?? 0, from ?? "", to ?? ""];
  }) : []));
  return [COLUMNS, ...rows].map((row) => `${row.join()}\r\n`).join("");
}

export function runsJson(runs, link) {
  const made = Object.fromEntries(Object.entries(runs).filter(([, run]) => run));
  return `${JSON.stringify({ link, runs: made }, null, 1)}\n`;
}

// Only what differs from the core's defaults is written.
export function runSnippet({ policy, run, k }, settings, { label }) {
  const [preset, ...changes] = policy.split(",");
  const scaler = `replace(SCALER_PRESETS["${preset}"]${arguments_(settingsOf(changes.join(), {}))})`;
  const { inject, inject_at: at = "50", inject_lasting: lasting = "false", ...rest } = settingsOf(run, {});
  const injection = inject && inject !== "none" ? `, injection=Injection("${inject}", ${literal(at)}, ${literal(lasting)})` : "";
  return [
    "from dataclasses import replace",
    `from lossscale_core import ${[label, ...(injection ? ["Injection"] : []), "SCALER_PRESETS", "Training", "TrainingPlan"].join(", ")}`,
    "",
    `scalers = {"unscaled": None, "static": replace(SCALER_PRESETS["static"], init_scale=2.0**${k}), "dynamic": ${scaler}}`,
    `plan = TrainingPlan(format=${label}${arguments_(rest)}${injection})`,
    `plans = {"fp32": replace(plan, autocast=False), **{name: replace(plan, scaler=scaler) for name, scaler in scalers.items()}}`,
    "for name, plan in plans.items():",
    "    for record in (training := Training(plan)):",
    "        print(name, record.step, record.loss, record.scale, record.action, record.lost_of_all)",
    "    print(name, training.accuracy())",
    "",
  ].join("\n");
}

const arguments_ = (values) => Object.entries(values).map(([name, value]) => `, ${name}=${literal(value)}`).join("");

function literal(text) {
  const signs = { eq: '"=="', ge: '">="', true: "True", false: "False", none: "None" };
  if (text in signs) return signs[text];
  if (Number.isSafeInteger(numberOf(text))) return String(numberOf(text));
  if (text.startsWith("p") && !Number.isNaN(numberOf(text))) return `2.0**${text.slice(1)}`;
  return Number.isNaN(numberOf(text)) ? JSON.stringify(text) : text;
}
