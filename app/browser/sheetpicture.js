// The picture on a scenario's sheet: its view as it opens, with nothing covered. It is drawn apart from the page and
// within one task, so that nobody sees or hears it; what is shown stays as it is.

import { change, html } from "./dom.js";
import { standalone } from "./snapshot.js";

// The charts that a sheet of paper has room for, and how wide they are drawn there, in pixels at 16 px text.
const PRINTED = ".window-chart, .landing-chart, .order-chart, .loss-chart, .trace-chart", WIDTH = 760;

// Between two looks at what is on its way, in milliseconds.
const PACE = 50;

// What a view still has to get from Python.
const AWAITS = { window: () => false, order: (view) => !view.current(), training: (view) => view.maker.busy };

// Gives what comes of the scenario as one sentence, what is given, and the charts as SVG.
export const sheetPicture = async (page, state) => {
  const { maker } = page.store, view = apart(page, state);
  // Runs that are being made anyway are waited for, and not made twice.
  await until(() => !maker?.busy);
  if (view.maker && maker) view.maker.runs.adopt(maker.runs);
  view.rested?.();
  await until(() => !AWAITS[state.view](view));
  return drawn(page, view);
};

async function until(ready) {
  while (!ready()) await new Promise((next) => setTimeout(next, PACE));
}

// A view of a state that is not the page's.
function apart(page, state) {
  const { store } = page, lessons = Object.create(store.lessons, { hidesWindow: { value: () => false } });
  const own = Object.create(store, {
    state: { value: state }, lessons: { value: lessons }, maker: { value: undefined, writable: true },
    // Questions are numbered by the one who asks.
    question: { value: (...question) => store.question(...question) },
  });
  const view = page.newView(state.view, own);
  Object.defineProperty(own, "page", { value: { shown: null, viewOf: () => view, came() {} } });
  return view;
}

function drawn(page, view) {
  const { store, themed } = page, { words, lookups, state } = view.store;
  const ground = html("div", { "aria-hidden": "true", style: `position: absolute; left: -9999px; width: ${WIDTH}px; font-size: 16px` }, ...view.left);
  // Paper is white, whatever the page is.
  change(themed, { "data-theme": "light" });
  page.element.append(ground);
  words.speak();
  view.reveal?.();
  view.draw({ width: view.chart.element.clientWidth, unit: 1, layout: "roomy" });
  view.show(true);
  const charts = view.charts().filter(({ element }) => element.matches(PRINTED) && element.clientWidth > 0)
    .map(({ element }) => ({ element, title: element.closest(".card").querySelector("h2").textContent }));
  const title = view.pictureTitle({ format: lookups.formats[state.format].label, scale: view.scaleText() });
  const picture = charts.length ? standalone(title, view.spoken(), charts, "sheet").text : "";
  ground.remove();
  change(themed, { "data-theme": store.state.theme });
  return { outcome: view.title(), given: view.given(state), picture };
}
