// How wide a text will be in the page's font, before it is drawn.

const pen = document.createElement("canvas").getContext("2d");
let family = "sans-serif";

export function useFontOf(element) {
  family = getComputedStyle(element).fontFamily;
}

// The chart's labels, bold ones by default: 14 px where the page's text is 16 px.
export function labelWidth(text, unit, weight = 700) {
  pen.font = `${weight} ${14 * unit}px ${family}`;
  return pen.measureText(text).width;
}
