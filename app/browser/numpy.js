// A few lines of NumPy that give the numbers shown. Nothing is computed here: how many bits the factors have
// tells where numpy rounds once; where it would round twice, the core's cast takes its place.

const TYPES = { fp16: "np.float16", bf16: "ml_dtypes.bfloat16", e5m2: "ml_dtypes.float8_e5m2", e4m3: "ml_dtypes.float8_e4m3fn" };

// Significant bits, and octaves of which no product leaves the normal numbers.
const FLOAT64 = { bits: 53, first: -1022, last: 1022 }, FLOAT32 = { bits: 24, first: -126, last: 126 };

// For a list of gradients, whose look-up tracks `track` gives, at a typed scale or at 2^k.
export function listSnippet({ gradients, scale: typed, k }, track, { name, label }) {
  const numbers = gradients.map((gradient) => ({ ...gradient, special: track(gradient).special ? gradient.key : null, hex: track(gradient).hex }));
  const scale = typed ? { token: typed.token, ...taken(typed.key) } : { token: "", hex: "0x1", octave: k };
  const fits = (float) => numbers.every((number) => holds(float, number, scale));
  const product = fits(FLOAT64), numpyCasts = name === "fp16" ? product : fits(FLOAT32), numpyDivides = holds(FLOAT32, scale);
  const core = [...(numpyCasts ? [] : [label, "cast"]), ...(product ? [] : ["cast_exact"]), ...(numpyDivides ? [] : ["recovered as unscaled"])];
  return snippet([product ? "" : "from fractions import Fraction", "import numpy as np", numpyCasts ? library(name) : "", fromCore(core)], [
    `g, S = np.array([${numbers.map(literal).join(", ")}], np.float64), ${literal(scale)}`,
    ...(product ? ["scaled = g * S"] : EXACT_PRODUCT),
    ...(product ? storing(name, label, numpyCasts) : [`stored = np.array([${exactCast(label)} for x in scaled], np.float64)`]),
    ...(numpyDivides ? ["recovered = stored.astype(np.float32) / np.float32(S)"] : EXACT_QUOTIENT),
    "error = np.where(g == 0, 0, (recovered - g) / g)",
    "for row in zip(g, scaled, stored, recovered, error): print(*row)",
  ]);
}

const EXACT_PRODUCT = [
  "# Some g*S is no float64: numpy would round it before the cast rounds once more. Fractions are exact.",
  "scaled = [Fraction(x) * Fraction(S) if x and np.isfinite(x) else x for x in g.tolist()]",
];
const EXACT_QUOTIENT = [
  "# S is no float32: numpy would round it before it divides. lossscale_core rounds once.",
  "recovered = np.copysign([unscaled(float(x), S) for x in stored], stored.astype(np.float64))",
];
const exactCast = (label) => `cast_exact(x, ${label}) if isinstance(x, Fraction) else cast(x, ${label})`;

function storing(name, label, numpyCasts) {
  if (name === "fp16") return ["stored = scaled.astype(np.float16)"];
  if (numpyCasts) return [`stored = scaled.astype(np.float32).astype(${TYPES[name]})`];
  return ["# Some g*S is no float32, and from others ml_dtypes rounds twice. lossscale_core rounds once.", `stored = cast(scaled, ${label})`];
}

// For the gradients of a whole model at S = 2^k: how many become what.
export function countSnippet({ single, reader, imports, lines }, k, { name, label }) {
  const numpyCasts = single || name === "fp16";
  const tiny = { fp16: "np.finfo(np.float16).tiny" }[name] ?? `float(ml_dtypes.finfo(${TYPES[name]}).smallest_normal)`;
  return snippet(["import numpy as np", numpyCasts ? library(name) : "", fromCore([...(numpyCasts ? [] : [label, "cast"]), ...reader]), ...imports], [
    ...lines,
    "g = g[np.isfinite(g) & (g != 0)]",
    ...(numpyCasts ? [] : ["# ml_dtypes rounds once from float32 alone, and a file can hold float64. lossscale_core takes both."]),
    `stored = np.abs(${numpyCasts ? `(g * 2.0**${k}).astype(${TYPES[name]})` : `cast(g * 2.0**${k}, ${label})`}.astype(np.float64))`,
    `borders = [1e-99, ${numpyCasts ? tiny : `${label}.min_normal`}, np.inf]`,
    "print(np.bincount(np.digitize(stored, borders), minlength=4))  # underflow, subnormal, normal, overflow",
  ]);
}

// A distribution that comes with the page: its values are float32, and stay so when they are scaled.
export function datasetSource(id) {
  return {
    single: true, reader: [], imports: ["from lossscale_app.datasets import DATASETS  # how these gradients come about"],
    lines: [
      `tensors = next(dataset.make() for dataset in DATASETS if dataset.id == ${JSON.stringify(id)})`,
      "g = np.concatenate([tensor.values.ravel() for tensor in tensors])",
    ],
  };
}

export function fileSource(name) {
  const path = JSON.stringify(name);
  const numpyReads = { npz: `np.load(${path}).values()`, npy: `[np.load(${path})]` }[/\.(npz|npy)$/i.exec(name)?.[1].toLowerCase()];
  const arrays = numpyReads ?? `read_gradients(${path}).values()`;
  return {
    single: false, reader: numpyReads ? [] : ["read_gradients"], imports: [],
    lines: [`g = np.concatenate([x.ravel() for x in ${arrays}]).astype(np.float64)`],
  };
}

const QUIET = "np.seterr(all=\"ignore\")  # overflow and underflow are results here";
const snippet = (imports, lines) => `${[...imports.filter(Boolean), QUIET, "", ...lines].join("\n")}\n`;
const library = (name) => (name === "fp16" ? "" : "import ml_dtypes");
const fromCore = (names) => (names.length ? `from lossscale_core import ${[...new Set(names)].join(", ")}` : "");

// What Python's float.hex() tells of a typed scale: *0x1.f400000000000p+9 is 0x1.f4 at octave 9.
function taken(key) {
  const [, first, digits, octave] = /^\*(0x[01])(?:\.([\da-f]*?)0*)?p([-+]\d+)$/.exec(key);
  return { hex: digits ? `${first}.${digits}` : first, octave: Number(octave) };
}

// Whether a float holds a number, or the product of two, as it is.
function holds({ bits, first, last }, ...factors) {
  if (factors.some(({ special }) => special)) return true;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const octave = sum(factors.map((factor) => factor.octave));
  return sum(factors.map(({ hex }) => significant(hex)).filter((count) => count > 1)) <= bits && first <= octave && octave < last;
}

// The significant bits of a significand such as 0x1.8, whose last digit is not 0.
function significant(hex) {
  const digits = hex.split(".")[1] ?? "";
  const idle = [8, 4, 2, 1].find((bit) => parseInt(digits.at(-1), 16) % bit === 0);
  return digits ? 1 + 4 * digits.length - Math.log2(idle) : 1;
}

// A number as Python writes it.
function literal({ token, special, negative, hex, octave }) {
  const sign = negative ? "-" : "";
  if (special) return sign + (special === "0.0" ? special : `np.${special}`);
  if (/^[-+]?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d{1,4})?$/i.test(token)) return /[.e]/i.test(token) ? token : `${token}.0`;
  return hex === "0x1" ? `${sign}2.0**${octave}` : `float.fromhex("${sign}${hex}p${octave}")`;
}
