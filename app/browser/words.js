// Numbers and sentences for people. Texts come from the core as plain ASCII (2^-26, 1.490e-8);
// this is only how they are spelled on a screen and read aloud.

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const PLAIN = Object.fromEntries(Object.entries(SUPERSCRIPTS).map(([plain, raised]) => [raised, plain]));

let point = ".", comma = ",";

// A number by itself with one comma, between digits: 0,5 and 1,75*2^-24, but not 1,2,3.
const DECIMAL_COMMA = /(?<![^\s;])([-+−]?\d+),(\d+)(?=(?:[eE][-+]?\d+)?(?:[*·×][^\s,;]*)?(?:[\s;]|,\s|,?$))/g;

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
    this.plurals = new Intl.PluralRules(this.language);
    this.speak();
  }

  // Numbers are spelled outside of any object, so whoever is about to write says first in which language.
  speak() {
    point = new Intl.NumberFormat(this.language).format(0.5).slice(1, 2);
    comma = this.number(10_000).slice(2, 3);
  }

  // The message of a key, in the plural form of `n` where it has forms, with {names} filled in.
  say(key, values = {}) {
    let message = this.messages[key];
    if (message === undefined) throw new Error(`no message ${key}`);
    if (typeof message !== "string") message = message[this.plurals.select(values.n)] ?? message.other;
    return filled(message, values);
  }

  // The texts of a scenario's question, whose keys have its name in them.
  scenario(id, part) {
    return this.say(`scenario-${id}-${part}`);
  }

  // Its answer: the letter of the right prediction, and texts, with what is wrong with a prediction under its letter.
  // It is packed, so that nobody comes upon it in the page before it is asked for.
  answer({ sealed }) {
    const bytes = Uint8Array.from(atob(sealed), (character) => character.charCodeAt(0));
    const { right, facts, said } = JSON.parse(new TextDecoder().decode(bytes));
    const numbers = mapped(facts, pretty);
    return { right, ...mapped(said[this.language], (text) => filled(text, numbers)) };
  }

  // What a person typed, with a point for each decimal comma. Where a comma could separate two numbers, it does.
  plain(text) {
    return point === "," ? text.replace(DECIMAL_COMMA, "$1.$2") : text;
  }

  // What stands between numbers in a row, where a comma may be in each.
  get separator() {
    return point === "," ? "; " : ", ";
  }

  has(key) {
    return key in this.messages;
  }

  number(count) {
    return new Intl.NumberFormat(this.language, { useGrouping: "min2" }).format(count);
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

const filled = (message, values) =>
  about(grouped(message).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)).replace(/(\d) %/g, "$1\u00a0%");

const mapped = (texts, change) => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));

// Whole numbers in groups of three digits, from five digits on, as Intl does.
function grouped(text) {
  return text.replace(/(?<![\w.,^])\d{5,}(?!\w)/g, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, comma));
}

// One sign is enough: g = ≈1.490e−8 becomes g ≈ 1.490e−8.
export function about(sentence) {
  return sentence.replaceAll("= ≈", "≈ ");
}

// 2^-26 becomes 2⁻²⁶, -3 becomes −3, inf becomes ∞, 65504 becomes 65,504.
export function pretty(text) {
  return grouped(typed(text));
}

// The same for a box, from which it is read again.
export function typed(text) {
  return text
    .replace(/\*\*/g, "^")
    .replace(/\^([-+]?\d+)/g, (_, exponent) => superscript(exponent))
    .replace(/\*/g, "·")
    .replace(/-/g, "−")
    .replace(/\binf(inity)?\b/gi, "∞")
    .replace(/\bnan\b/gi, "NaN")
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
