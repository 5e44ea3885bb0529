// Looking up: nothing here rounds, casts or classifies. Rows and texts come from the core's tables.

export const ZERO = 0, UNDERFLOW = 1, SUBNORMAL = 2, NORMAL = 3, OVERFLOW = 4, NONFINITE = 5;
export const OUTCOMES = ["zero", "underflow", "subnormal", "normal", "overflow", "nonfinite"];

const at = (texts, index) => (Array.isArray(texts) ? texts[index] : texts);
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

  track(gradient) {
    return this.tracks[gradient.key];
  }

  // The octaves a gradient can be dragged through: [first, last], or null where it has none.
  octaves(gradient) {
    const track = this.track(gradient);
    return track.special ? null : [track.octave, track.octave + track.values.length - 1];
  }

  // The same gradient some octaves away, written so that the core reads exactly this value again.
  moved(gradient, octave) {
    const [first, last] = this.octaves(gradient);
    const place = Math.max(first, Math.min(last, octave));
    const { hex } = this.track(gradient);
    const size = hex === "0x1" ? `2^${place}` : `${hex}p${place}`;
    return { ...gradient, octave: place, token: gradient.negative ? `-${size}` : size };
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

  // The safe and the full-precision window of a list, or null where no gradient asks for anything.
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
    return { survive: window(low.survival, reach[0]), full: window(low.fullPrecision, reach[1]) };
  }

  scaleText(state) {
    return state.scale ? state.scale.text : this.scaleTexts[state.k + 40];
  }
}
