// The numbers of a step as files for programs, as Python worked them out, and Python that works them out again.

import { wrongOnes } from "./orderblocks.js";

// A line for each number: stage by stage, then the update.
export function orderCsv({ mine, right }, k) {
  const lines = [...mine.stages.keys()].flatMap((name) => {
    const made = exact(mine, name, k), meant = exact(right, name, k);
    return (made ?? []).flatMap((row, batch) => row.map((value, weight) => [name, batch + 1, weight + 1, value, meant?.[batch]?.[weight] ?? ""]));
  });
  const updates = exactUpdate(mine, k).map((value, weight) => ["update", 1, weight + 1, value, right ? exactUpdate(right, k)[weight] : ""]);
  return [["stage", "micro_batch", "weight", "yours", "right"], ...lines, ...updates].map((cells) => `${cells.join()}\r\n`).join("");
}

export function orderJson({ mine, right, order }, state, link) {
  const side = (table) => table && { ...outcome(table, state.k), stages: Object.fromEntries([...table.stages.keys()].map((name) => [name, exact(table, name, state.k)])) };
  const { at, unscale, misplaced } = order;
  const parts = {
    link, example: state.example, log2_scale: state.k, format: state.format, order: { at, unscale, misplaced },
    true_update: mine.reference.map((place) => mine.exact(place)), same_for_log2_scales: mine.same, yours: side(mine), right: side(right),
  };
  return `${JSON.stringify(parts, null, 2)}\n`;
}

function outcome(table, k) {
  const { verdict, ratio } = table.result(k);
  return { verdict, skipped: verdict === "skipped", ratio, update: exactUpdate(table, k) };
}

const exact = (table, name, k) => table?.stage(name, k)?.rows?.map((row) => row.map((place) => table.exact(place))) ?? null;
const exactUpdate = (table, k) => table.result(k).update.map((place) => table.exact(place));

export function orderSnippet({ example, order }, misplaced, k, { label }) {
  const fields = wrongOnes(order).map((name) => ({
    at: ["scale", "late"], unscale: ["unscale", order.unscale === "fp16" ? "stored" : "never"],
  }[name] ?? misplaced[name])).map(([field, value]) => `${field}=${JSON.stringify(value)}`);
  return `${[
    `from lossscale_core import ${label}, StepExample, StepOrder, take_step`,
    "",
    `example = ${example.code}`,
    `order = StepOrder(${fields.join(", ")})`,
    `report = take_step(example, order, scale=2.0**${k}, fmt=${label})`,
    "for stage in report.stages:",
    "    print(stage.name, *stage.values)",
    "print(\"skipped\", report.skipped)",
    "print(\"update\", report.update, \"true\", report.true_update, \"ratio\", report.ratio)",
  ].join("\n")}\n`;
}
