// Where the browser's part begins. Under Panel `model` is the component's proxy; in a saved page it is a plain object.

import { Distributions } from "./distributions.js";
import { LinkCodec } from "./link.js";
import { Lookups } from "./lookup.js";
import { Page } from "./page.js";
import { CHOSEN, LISTED } from "./shared.js";
import { Store } from "./store.js";
import { Words } from "./words.js";

// The page has a place for the explorer in the document itself, where text search, print and readers
// find it; a notebook cell has only the component's own element.
export function render({ model, el }) {
  const ground = document.querySelector("[data-lossscale-page]");
  const setup = JSON.parse(model.setup);
  const rows = JSON.parse(model.rows);
  const words = new Words(setup.languages, model.language);
  const lookups = new Lookups(JSON.parse(model.tracks), setup.formats, setup.scaleTexts);
  const codec = new LinkCodec(setup.linkKeys, lookups, setup, rows.scale);
  const given = {
    gradients: rows.gradients, scale: rows.scale, embed: model.embed, hide: model.hide,
    ...Object.fromEntries(CHOSEN.map(([name, key]) => [key, model[name]])),
  };
  const here = ground ? linkHere(model.saved) : null;
  const link = here ? codec.read(here) : { state: given, ignored: model.ignored, unread: [] };
  // A server that was started with a file shows it, unless a link asks for something else.
  if (setup.opened && !new URLSearchParams((here ?? location.search).replace(/^[?#]/, "")).has("d")) link.state = { ...link.state, data: "file" };
  words.turnTo(link.state.language);
  const store = new Store(model, lookups, words, link.state, setup.live, new Distributions(setup));
  const page = new Page(store, setup, codec, ground !== null);
  page.mount(ground ?? el);
  page.unread(here, link);
  listen(model, store, page);
}

// The server has read the query; the same keys are accepted in the hash, where a saved page has to keep them.
function linkHere(saved) {
  const parts = saved ? [location.hash, location.search] : [location.hash];
  return parts.find((part) => part.includes("=")) ?? null;
}

function listen(model, store, page) {
  for (const name of [...LISTED, ...CHOSEN.map(([each]) => each), "rows", "tracks"]) {
    model.on(name, () => queueMicrotask(() => store.arrived()));
  }
  model.on("msg:custom", (message) => {
    if ("qr" in message) page.share.draw(message.qr);
    else if ("progress" in message) store.progressed(message);
    else if ("training" in message) store.trained(message);
    else store.answered(message);
  });
  model.document?.on_event?.("connection_lost", () => page.offline());
}
