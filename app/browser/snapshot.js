// The charts that are shown as one picture that needs nothing around it: styles inlined, and what the page
// lays over the charts as HTML drawn as well.

import { html, svg } from "./dom.js";

const MARGIN = 24, GAP = 18;

const SHAPES = ["path", "rect", "line", "circle", "polygon", "text"];
const GROUPS = ["g", "defs", "clipPath", "pattern"];
const KEPT = ["id", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height", "d", "points", "transform",
  "clip-path", "text-anchor", "textLength", "lengthAdjust", "patternUnits"];
// Computed styles that are written out where they are not what a picture has anyway.
const PLAIN = {
  fill: "rgb(0, 0, 0)", "fill-opacity": "1", stroke: "none", "stroke-width": "1px", "stroke-opacity": "1",
  "stroke-dasharray": "none", opacity: "1", "paint-order": "normal",
};
const LETTERS = ["font-size", "font-weight"];

// `charts`: { title, element } of each chart, one below the other; `ids` sets the names in it apart from those of
// other pictures in the same page.
export function standalone(title, description, charts, ids) {
  const element = charts[0].element, style = getComputedStyle(element);
  const size = parseFloat(style.fontSize), ink = style.color;
  const width = Math.max(...charts.map((chart) => chart.element.clientWidth)) + 2 * MARGIN;
  const parts = [];
  let y = MARGIN;
  const write = (text, scale, weight) => {
    for (const line of broken(text, width - 2 * MARGIN, `${weight} ${scale * size}px ${style.fontFamily}`)) {
      y += 1.25 * scale * size;
      parts.push(svg("text", { x: MARGIN, y, "font-size": scale * size, "font-weight": weight, fill: ink }, line));
    }
  };
  write(title, 1.25, 700);
  for (const chart of charts) {
    y += GAP;
    write(chart.title, 1, 600);
    y += 8;
    parts.push(svg("g", { transform: `translate(${MARGIN},${y})` }, ...copied(chart.element, ids)));
    y += chart.element.clientHeight;
  }
  const height = Math.ceil(y + MARGIN);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": style.fontFamily },
    svg("title", {}, title), svg("desc", {}, description),
    svg("rect", { width, height, fill: groundOf(element) }), ...parts);
  const text = new XMLSerializer().serializeToString(picture).replaceAll("><", ">\n<");
  return { text: `${text}\n`, width, height };
}

// The same as an image of `scale` pixels to the page's one.
export function painted({ text, width, height }, scale) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  const canvas = html("canvas", { width: scale * width, height: scale * height });
  return image.decode().then(() => {
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  });
}

function copied(chart, ids) {
  const overlays = { ".gradient-box": names, ".window-caption": caption, ".scale-track": slider, ".bubble": bubble };
  return [
    ...[...chart.querySelector(".picture").children].map((child) => copy(child, ids)),
    ...Object.entries(overlays).flatMap(([selector, draw]) => [...chart.querySelectorAll(selector)].filter(isSeen).flatMap((part) => draw(part, chart))),
  ].filter(Boolean);
}

// An element of a drawing with its computed style; null for what is not seen, or only read aloud.
function copy(element, ids) {
  const name = element.localName, isShape = SHAPES.includes(name);
  if (!isShape && !GROUPS.includes(name)) return null;
  const style = getComputedStyle(element);
  if (style.visibility === "hidden" || style.display === "none" || (isShape && style.fill === CLEAR && style.stroke === "none")) return null;
  const attributes = Object.fromEntries(KEPT.filter((each) => element.hasAttribute(each)).map((each) => [each, renamed(rounded(element.getAttribute(each)), each, ids)]));
  if (isShape) Object.assign(attributes, paints(element, style, ids));
  if (name === "text") return element.textContent ? svg(name, attributes, element.textContent) : null;
  return svg(name, attributes, ...[...element.children].map((child) => copy(child, ids)));
}

const CLEAR = "rgba(0, 0, 0, 0)";

function paints(element, style, ids) {
  const names = [...Object.keys(PLAIN), ...(element.localName === "text" ? LETTERS : [])];
  const found = names.map((name) => [name, style.getPropertyValue(name)]).filter(([name, value]) => value !== PLAIN[name]);
  const hatch = element.getAttribute("fill")?.startsWith("url(") ? { fill: renamed(element.getAttribute("fill"), "fill", ids) } : {};
  return { ...Object.fromEntries(found), ...hatch };
}

const renamed = (value, name, ids) => (name === "id" ? `${ids}-${value}` : value.replace("url(#", `url(#${ids}-`));
const rounded = (value) => value.replace(/\d+\.\d{3,}/g, (number) => String(Math.round(100 * number) / 100));

// What lies over a chart

const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });

function placed(element, chart) {
  const box = element.getBoundingClientRect(), around = chart.getBoundingClientRect();
  return { x: box.left - around.left, y: box.top - around.top, width: box.width, height: box.height };
}

const letters = (style) => ({ fill: style.color, "font-size": style.fontSize, "font-weight": style.fontWeight });
const baseline = ({ y, height }, style) => y + height / 2 + 0.36 * parseFloat(style.fontSize);

function names(field, chart) {
  const box = placed(field, chart), style = getComputedStyle(field);
  const x = box.x + box.width - parseFloat(style.paddingRight);
  return [svg("text", { ...letters(style), x, y: baseline(box, style), "text-anchor": "end" }, field.value)];
}

function bubble(element, chart) {
  const box = placed(element, chart), style = getComputedStyle(element);
  return [
    svg("rect", { ...box, rx: parseFloat(style.borderRadius), fill: style.backgroundColor }),
    svg("text", { ...letters(style), x: box.x + box.width / 2, y: baseline(box, style), "text-anchor": "middle" }, element.textContent),
  ];
}

function caption(element, chart) {
  const plate = svg("rect", { ...placed(element, chart), rx: 6, fill: groundOf(element), "fill-opacity": 0.88 });
  return [plate, ...[...element.children].flatMap((part) => {
    const style = getComputedStyle(part);
    return laidOut(part.firstChild).map(({ text, box }) => {
      const line = placed({ getBoundingClientRect: () => box }, chart);
      return svg("text", { ...letters(style), x: line.x + line.width / 2, y: baseline(line, style), "text-anchor": "middle" }, text);
    });
  })];
}

// The slider's track, the safe stretch of it, and the thumb, which is where the scale's line begins.
function slider(track, chart) {
  const box = placed(track, chart), safe = getComputedStyle(track, "::after"), line = chart.querySelector(".scale-line");
  const rx = box.height / 2, style = getComputedStyle(line), middle = { cx: line.getAttribute("x1"), cy: box.y + rx };
  return [
    svg("rect", { ...box, rx, fill: getComputedStyle(track).backgroundColor }),
    svg("rect", { ...box, rx, x: box.x + parseFloat(safe.left), width: parseFloat(safe.width), fill: safe.backgroundColor }),
    svg("circle", { ...middle, r: 13.25, fill: groundOf(track), stroke: style.stroke, "stroke-width": 3.5 }),
  ];
}

// The colour of the card an element lies on.
const groundOf = (element) => getComputedStyle(element.closest(".card")).backgroundColor;

// A text as the page has broken it into lines, with the box of each.
function laidOut(node) {
  const range = document.createRange(), found = [];
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, found.at(-1)?.start ?? word.index);
    range.setEnd(node, word.index + word[0].length);
    if (range.getClientRects().length > 1 || !found.length) {
      range.setStart(node, word.index);
      found.push({ start: word.index });
    }
    Object.assign(found.at(-1), { text: range.toString(), box: range.getBoundingClientRect() });
  }
  return found;
}

// A text in lines that are no wider than a width in a font; an equation stays in one.
function broken(text, width, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  return text.split(/(?<![<≤=]) (?![<≤=])/).reduce((lines, word) => {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    return pen.measureText(longer).width <= width || !lines.length ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}
