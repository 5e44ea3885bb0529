// Looking up: nothing here rounds, casts or classifies. Rows and texts come from the core's tables.

export const ZERO = 0;
export const UNDERFLOW = 1;
export const SUBNORMAL = 2;
export const NORMAL = 3;
export const OVERFLOW = 4;
export const NONFINITE = 5;
export const OUTCOMES = ["zero", "underflow", "subnormal", "normal", "overflow", "nonfinite"];

const at = (texts, index) => (Array.isArray(texts) ? texts[index] : texts);
// A number as JavaScript reads it, to the nearest double like Python; null where only Python can tell.
function magnitude(token) {
  const [, sign, text] = /^([-+]?)(.*)$/s.exec(plainly(token));
  const negative = sign === "-";
  if (/^nan$/i.test(text)) return { special: "nan", negative: false };
  if (/^inf(inity)?$/i.test(text)) return { special: "inf", negative };
  const power = /^(?:(\d+\.?\d*|\.\d+)\*)?2\^(-?\d{1,4})$/.exec(text);
  const hex = /^0x1(?:\.([\da-f]{0,13}))?p([-+]?\d{1,4})$/i.exec(text);
  const decimal = /^(\d+\.?\d*|\.\d+)(e[-+]?\d{1,4})?$/i.exec(text);
  let size = NaN;
  if (power) size = Number(power[1] ?? 1) * 2 ** Number(power[2]);
  else if (hex) size = Number(`0x1${hex[1] ?? ""}`) * 2 ** (Number(hex[2]) - 4 * (hex[1] ?? "").length);
  else if (decimal) size = Number(text);
  if (decimal && !/[1-9]/.test(decimal[1])) return { special: "0.0", negative };
  return size > 0 && size < Infinity ? { size, negative } : null;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// One spelling for what people write in several: 2⁻³⁰, 2**-30, −3, 1.5·2^-24.
function plainly(token) {
  return token
    .replace(/([⁻⁺]?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, sign, raised) => `^${sign === "⁻" ? "-" : ""}${[...raised].map((digit) => RAISED.indexOf(digit)).join("")}`)
    .replace(/−/g, "-").replace(/\*\*/g, "^").replace(/[·×]/g, "*");
}

function exponentOf(size) {
  // The smallest doubles have no exponent of their own.
  if (size < 2 ** -1022) return exponentOf(size * 2 ** 64) - 64;
  const words = new DataView(new ArrayBuffer(8));
  words.setFloat64(0, size);
  return ((words.getUint32(0) >>> 20) & 0x7ff) - 1023;
}

const signed = (text, negative) => (negative ? text.split(" ").map(minus).join(" ") : text);
const minus = (text) => (text === "nan" ? text : text.startsWith("≈") ? `≈-${text.slice(1)}` : `-${text}`);

export class Lookups {
  constructor(data, formats, scaleTexts) {
    Object.assign(this, { formats, scaleTexts });
    this.take(data);
  }

  take({ tracks, pairs }) {
    this.tracks = { ...this.tracks, ...tracks };
    this.pairs = { ...this.pairs, ...pairs };
  }

  // Whether the tables of some gradients at a typed scale are here.
  has(gradients, scale) {
    return gradients.every(({ key }) => this.tracks[key] && (!scale || this.tracks[key + scale.key] || this.tracks[key].special));
  }

  track(gradient) {
    return this.tracks[gradient.key];
  }

  // The octaves a gradient can be dragged through: [first, last], or null where it has none.
  octaves(gradient) {
    const track = this.track(gradient);
    return track.special ? null : [track.octave, track.octave + track.values.length - 1];
  }

  // The gradient a token stands for, if its significand is among the tables: a power of two always is.
  // A double is taken apart here, not rounded: its significand and octave name its row.
  find(token) {
    const number = magnitude(token);
    if (number === null) return null;
    const { size, negative, special } = number;
    if (special) return this.tracks[special] ? { token, key: special, octave: 0, negative } : null;
    const octave = exponentOf(size);
    const match = Object.entries(this.tracks).find(([, track]) =>
      track.significand * 2 ** octave === size && track.octave <= octave && octave < track.octave + track.values?.length);
    return match && !match[0].includes("*") ? { token, key: match[0], octave, negative } : null;
  }

  // The same gradient some octaves away, written so that the core reads exactly this value again.
  moved(gradient, octave) {
    const [first, last] = this.octaves(gradient);
    const place = Math.max(first, Math.min(last, octave));
    const there = { ...gradient, octave: place };
    return { ...there, token: this.hexToken(there).replace(/^(-?)0x1p/, "$12^") };
  }

  hexToken(gradient) {
    const { hex } = this.track(gradient);
    return `${gradient.negative ? "-" : ""}${hex}p${gradient.octave}`;
  }

  name(gradient) {
    const track = this.track(gradient);
    if (gradient.token.length <= 12 && !/^-?0x/i.test(gradient.token)) return gradient.token;
    const text = track.special ? track.text : track.values[gradient.octave - track.octave].split(" ")[0];
    return signed(text, gradient.negative);
  }

  // Everything the page shows of a gradient at a scale in a format.
  row(gradient, state, format = state.format, k = state.k) {
    const plain = this.track(gradient);
    const sign = gradient.negative ? "1" : "0";
    if (plain.special) {
      const { outcome, stored, bits, recovered, error } = plain.formats[format];
      const text = (value) => signed(value, gradient.negative);
      return { outcome, scaled: text(plain.text), stored: text(stored), bits: sign + bits.slice(1), kept: 0,
        recovered: text(recovered), error, log2: null, scaledLog2: null, storedLog2: null };
    }
    const scale = k === state.k ? state.scale : null;
    const track = scale ? this.tracks[gradient.key + scale.key] : plain;
    const rows = track.formats[format];
    const n = gradient.octave + (scale ? scale.exponent : k) - track.row;
    const e = gradient.octave - track.octave;
    const ratio = rows.ratio[n];
    return {
      outcome: rows.outcome[n],
      scaled: signed(track.scaled[n], gradient.negative),
      stored: signed(rows.stored[n], gradient.negative),
      bits: sign + rows.bits[n].slice(1),
      kept: rows.kept[n],
      recovered: signed(at(rows.recovered[ratio], e), gradient.negative),
      error: at(rows.error[ratio], e),
      log2: track.valueLog2[e],
      scaledLog2: track.scaledLog2[n],
      storedLog2: rows.storedLog2[n],
    };
  }

  // Where a gradient's outcomes change on the axis of scales: places, texts, and first powers of two beyond.
  ends(gradient, format) {
    const track = this.track(gradient);
    if (track.special) return null;
    const rows = track.formats[format];
    const e = gradient.octave;
    const end = (name) => ({
      log2: rows[`${name}Log2`] - e,
      text: rows[`${name}Text`][e - track.octave],
      k: rows[`${name}K`] - e,
    });
    return { survival: end("survival"), fullPrecision: end("fullPrecision"), overflow: end("overflow") };
  }

  // The safe and the full-precision window of a list, and of how many gradients; or null where no gradient asks for anything.
  windows(gradients, format) {
    const finite = gradients.filter((gradient) => !this.track(gradient).special);
    if (!finite.length) return null;
    const size = (gradient) => [gradient.octave, this.track(gradient).significand];
    const bySize = [...finite].sort((a, b) => size(a)[0] - size(b)[0] || size(a)[1] - size(b)[1]);
    const small = bySize[0], large = bySize[bySize.length - 1];
    const low = this.ends(small, format), high = this.ends(large, format).overflow;
    const reach = this.pairs[`${small.key} ${large.key}`][format];
    const window = (lower, octaves) => ({
      empty: large.octave - small.octave > octaves,
      lower, upper: high, small, large,
      lowerClosed: lower === low.fullPrecision, upperClosed: this.formats[format].upperClosed,
      first: lower.k, last: high.k - 1,
      powerless: lower.k > high.k - 1,
    });
    return { count: finite.length, survive: window(low.survival, reach[0]), full: window(low.fullPrecision, reach[1]) };
  }

  scaleText(state) {
    return state.scale ? state.scale.text : this.scaleTexts[state.k + 40];
  }
}
