// The link vocabulary in the browser: the state as a query string, and back. The keys come with the page.

const POWER = /^(-?)2\^(-?\d+)$/, LINK_POWER = /^(-?)p(-?\d+)$/, PLAIN = /^[0-9A-Za-z.-]+$/;

export class LinkCodec {
  // `scale` is the typed scale the page came with, whose tables are here.
  constructor(keys, lookups, { presets, beginning, scenes, trainingTries, settings }, scale) {
    Object.assign(this, { keys, lookups, presets, scenes, scale });
    const shown = [...Object.values(scenes), ...Object.values(trainingTries)];
    this.settings = { policy: [...Object.keys(settings.presets), ...shown.map(({ policy }) => policy)], run: shown.map(({ run }) => run) };
    const plain = Object.fromEntries(keys.filter(({ param }) => [...PLAIN_CHOICES, "policy", "run"].includes(param)).map((key) => [key.param, key.default]));
    this.defaults = { ...begin(beginning), ...plain, scenario: "", selected: 0, misplaced: [], embed: false, hide: [] };
  }

  write(state) {
    const beginning = { ...this.defaults, ...this.scenario(state.scenario), scenario: "" };
    const parts = ["v=1"];
    for (const key of this.keys) {
      if (!(key.param in WRITERS)) continue;
      const value = WRITERS[key.param](state, this, key);
      if (value !== WRITERS[key.param](beginning, this, key)) parts.push(`${key.name}=${value}`);
    }
    return `?${parts.join("&")}`;
  }

  // { state, ignored, unread }: the state a link stands for, what could not be used, and what only Python can
  // read, since the tables of its numbers are not here.
  read(link) {
    const state = { ...this.defaults }, ignored = [], unread = [];
    if (link.length > LONGEST_LINK) return { state, ignored: [link], unread };
    const pairs = [...new URLSearchParams(link.replace(/^[?#]+/, ""))];
    for (const [name, value] of pairs.sort((a, b) => (b[0] === "s") - (a[0] === "s"))) {
      const key = this.keys.find((each) => each.name === name);
      const result = key ? this.value(key, value) : null;
      if (result === null) ignored.push(`${name}=${value}`);
      else if (result === undefined) unread.push(`${name}=${value}`);
      else Object.assign(state, result);
    }
    if (state.selected >= Math.max(1, state.gradients.length)) {
      ignored.push(`j=${state.selected + 1}`);
      state.selected = 0;
    }
    return { state, ignored, unread };
  }

  // What a value sets; null where it is bad, undefined where its numbers are not among the page's tables.
  value(key, value) {
    if (key.kind === "choice" && !key.choices.includes(value)) return null;
    if (key.name === "s") return this.scenario(value);
    if (PLAIN_CHOICES.includes(key.param)) return { [key.param]: value };
    switch (key.param) {
      case "gradients": return this.gradients(value);
      case "typed_scale": {
        if (!PLAIN.test(value)) return null;
        return this.scale?.link === value ? { scale: this.scale } : undefined;
      }
      case "log2_scale": case "selected": {
        if (!/^-?\d{1,3}$/.test(value) || value < key.bounds[0] || value > key.bounds[1]) return null;
        return key.param === "selected" ? { selected: value - 1 } : { k: Number(value), scale: null };
      }
      case "hide": case "misplaced": {
        const names = value.split(",").filter(Boolean);
        return names.every((name) => key.choices.includes(name)) ? { [key.param]: key.choices.filter((name) => names.includes(name)) } : null;
      }
      // Others than the page's own are Python's to read.
      case "policy": case "run": return this.settings[key.param].includes(value) ? { [key.param]: value } : SETTINGS.test(value) ? undefined : null;
      case "embed": return { embed: value === "1" };
      default: return {};
    }
  }

  scenario(name) {
    if (!name) return {};
    if (name in this.scenes) return { scenario: name, ...scene(this.scenes[name]) };
    return { scenario: name, ...begin(this.presets.find(({ id }) => id === name)) };
  }

  gradients(value) {
    if (value === "none") return { gradients: [] };
    const tokens = value.split(",");
    if (tokens.length > MOST_GRADIENTS || !tokens.every((token) => PLAIN.test(token))) return null;
    const gradients = tokens.map((token) => this.lookups.find(typed(token)));
    return gradients.every(Boolean) ? { gradients } : undefined;
  }

  token(gradient) {
    const power = POWER.exec(gradient.token);
    if (power) return `${power[1]}p${power[2]}`;
    return PLAIN.test(gradient.token) ? gradient.token : this.lookups.hexToken(gradient);
  }
}

const begin = ({ gradients, k, format }) => ({ gradients, k, format, scale: null });

const scene = ({ log2_scale: k, ...params }) => ({
  k, scale: null, ...Object.fromEntries(Object.entries(params).filter(([name]) => SCENE_PARAMS.includes(name))),
});

export const MOST_GRADIENTS = 12;
export const LONGEST_LINK = 4000;

const DEFAULT_GRADIENTS = "p-26,p3";

// Choices that are in the state under the name of their param. A file of the reader's own has no name for others.
const PLAIN_CHOICES = ["format", "view", "data", "losing", "unscale", "at", "example", "mode", "theme", "language"];

// What a scenario of the training or the order view sets.
const SCENE_PARAMS = ["format", "view", "unscale", "at", "example", "misplaced", "policy", "run"];

// A scaler or the settings of a run: what is in them is Python's to read.
const SETTINGS = /^[0-9A-Za-z._,-]*$/;

const sameValue = (a, b) => a.key === b.key && a.octave === b.octave && a.negative === b.negative;

const typed = (token) => token.replace(LINK_POWER, "$12^$2");

const WRITERS = {
  gradients: (state, codec) => {
    const same = state.gradients.length === codec.defaults.gradients.length
      && state.gradients.every((gradient, index) => sameValue(gradient, codec.defaults.gradients[index]));
    return same ? DEFAULT_GRADIENTS : state.gradients.map((gradient) => codec.token(gradient)).join() || "none";
  },
  log2_scale: (state) => String(state.k),
  typed_scale: (state) => (state.scale ? state.scale.link : ""),
  selected: (state) => String(state.selected + 1),
  scenario: (state) => state.scenario,
  embed: (state) => (state.embed ? "1" : "0"),
  hide: (state) => state.hide.join(),
  misplaced: (state) => state.misplaced.join(),
  policy: (state) => state.policy,
  run: (state) => state.run,
  ...Object.fromEntries(PLAIN_CHOICES.map((name) => [name, (state, codec, key) => (key.choices.includes(state[name]) ? state[name] : key.default)])),
};
