// Numbers and sentences for people. Texts come from the core as plain ASCII (2^-26, 1.490e-8);
// this is only how they are spelled on a screen and read aloud.

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const PLAIN = Object.fromEntries(Object.entries(SUPERSCRIPTS).map(([plain, raised]) => [raised, plain]));

let point = ".";

export class Words {
  constructor(languages, language) {
    this.languages = languages;
    this.turnTo(language);
  }

  // Speak a language; none stands for the browser's, or else the first.
  turnTo(language) {
    const wanted = [language, ...navigator.languages.map((each) => each.slice(0, 2)), Object.keys(this.languages)[0]];
    this.language = wanted.find((each) => each in this.languages);
    this.messages = this.languages[this.language].messages;
    this.sealed = this.languages[this.language].sealed;
    this.plurals = new Intl.PluralRules(this.language);
    this.speak();
  }

  // Numbers are spelled outside of any object, so whoever is about to write says first in which language.
  speak() {
    point = new Intl.NumberFormat(this.language).format(0.5).slice(1, 2);
  }

  // The message of a key, in the plural form of `n` where it has forms, with {names} filled in.
  say(key, values = {}) {
    let message = this.messages[key];
    if (message === undefined) throw new Error(`no message ${key}`);
    if (typeof message !== "string") message = message[this.plurals.select(values.n)] ?? message.other;
    return message.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  // The texts of scenarios, whose keys have the scenario's name in them.
  scenario(id, part, facts) {
    if (["found", "answer"].includes(part)) this.unseal();
    return this.say(`scenario-${id}-${part}`, facts);
  }

  misconception(id) {
    this.unseal();
    return this.say(`misconception-${id}`);
  }

  // Answers are packed, so that nobody comes upon them in the page before they are asked for.
  unseal() {
    if (!this.sealed) return;
    const bytes = Uint8Array.from(atob(this.sealed), (character) => character.charCodeAt(0));
    this.messages = { ...this.messages, ...JSON.parse(new TextDecoder().decode(bytes)) };
    this.sealed = "";
  }

  // A number of the core's as it stands in a sentence.
  fact(text) {
    return pretty(text);
  }

  has(key) {
    return key in this.messages;
  }

  number(count) {
    return new Intl.NumberFormat(this.language).format(count);
  }

  // Of a share in percent: none is 0 %, and hardly any is not.
  percent(share) {
    const text = (value) => new Intl.NumberFormat(this.language, { style: "percent", maximumFractionDigits: 1 }).format(value / 100);
    return share > 0 && share < 0.1 ? this.say("lessThan", { value: text(0.1) }).replace(" ", "\u00a0") : text(share);
  }

  // Three digits, all of them shown; a number that is none as it is called.
  measured(value) {
    return value === null ? "NaN" : new Intl.NumberFormat(this.language, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }).format(value);
  }

  list(items) {
    return new Intl.ListFormat(this.language, { type: "conjunction" }).format(items);
  }
}

// 2^-26 becomes 2⁻²⁶, -3 becomes −3, inf becomes ∞.
export function pretty(text) {
  return text
    .replace(/\*\*/g, "^")
    .replace(/\^([-+]?\d+)/g, (_, exponent) => superscript(exponent))
    .replace(/\*/g, "·")
    .replace(/-/g, "−")
    .replace(/\binf(inity)?\b/gi, "∞")
    .replace(/\bnan\b/gi, "NaN")
    .replace(/%$/, "\u202f%")
    .replace(/(\d)\.(?=\d)/g, `$1${point}`);
}

export function superscript(number) {
  return [...String(number)].map((character) => SUPERSCRIPTS[character] ?? "").join("");
}

export function power(exponent) {
  return `2${superscript(exponent)}`;
}

// A core text holds a power and a decimal, or one number: 2^-26 ≈1.490e-8 becomes 2⁻²⁶ ≈ 1.490e−8.
export function equation(text) {
  const [first, second] = text.split(" ");
  if (second === undefined) return pretty(first);
  return `${pretty(first)} ${second.startsWith("≈") ? "≈ " : "= "}${pretty(second.replace("≈", ""))}`;
}

// The shorter half of a core text: the power where there is one.
export function short(text) {
  return pretty(text.split(" ")[0]);
}

export function spoken(text, words) {
  return text
    .split(" ")[0]
    .replace("≈", `${words.say("about")} `)
    .replace(/(\d)\^-(\d+)/, (_, base, exponent) => words.say("powerMinus", { base, exponent }))
    .replace(/(\d)\^(\d+)/, (_, base, exponent) => words.say("power", { base, exponent }))
    .replace(/^-/, `${words.say("minus")} `)
    .replace(/\binf\b/, words.say("infinity"))
    .replace(/(\d)\.(?=\d)/g, `$1${point}`);
}

// A sentence for the eye as it is read aloud: powers in words, and no signs.
export function aloud(text, words) {
  const exponent = (raised) => [...raised].map((character) => PLAIN[character]).join("");
  return text.replace(/(\d)([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, base, raised) => spoken(`${base}^${exponent(raised)}`, words))
    .replace(/[✓✕◆●■▲]\s*/gu, "").replaceAll(" · ", ", ");
}

// S = 2¹² = 4096, or S = 1000 where it was typed.
export function scaleEquation(state, lookups, words) {
  const text = pretty(lookups.scaleText(state));
  if (state.scale) return words.say("scaleTyped", { scale: text });
  return text.startsWith("≈")
    ? words.say("scaleAbout", { power: power(state.k), scale: text.slice(1) })
    : words.say("scaleIs", { power: power(state.k), scale: text });
}
