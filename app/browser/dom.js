// Elements, made and changed without a framework: the page has few, and keeps them.

const SVG = "http://www.w3.org/2000/svg";

export function html(tag, attributes = {}, ...children) {
  return assemble(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return assemble(document.createElementNS(SVG, tag), attributes, children);
}

export function change(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === null || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

// Text is set only where it differs, so that screen readers and selections are left alone.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return element;
}

function assemble(element, attributes, children) {
  change(element, attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}
