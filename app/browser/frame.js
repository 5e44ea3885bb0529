// Living in someone else's page: fitting the box, telling the host, and being told by it.

import { change, html, write } from "./dom.js";
import { power } from "./words.js";

// Layouts tighter than the roomy one, down to the essential strip.
const TIGHTER = ["compact", "dense", "strip"];
const PACE = 200;

export class Frame {
  constructor(page, framed) {
    Object.assign(this, { page, framed, layout: "roomy" });
    this.build();
  }

  build() {
    const { words } = this.page.store;
    const step = (by, key) => html("button", { type: "button", class: "stepper", "aria-label": words.say(key), onclick: () => this.step(by) }, by < 0 ? "−" : "+");
    this.value = html("span", { class: "stepper-value", "aria-hidden": "true" });
    this.full = html("a", { class: "open-full", target: "_blank", rel: "noopener" }, words.say("openFull"));
    this.strip = html("div", { class: "strip" }, step(-1, "stepDown"), this.value, step(1, "stepUp"), this.full);
  }

  get embedded() {
    return this.page.store.state.embed;
  }

  mount() {
    const { element } = this.page;
    this.place();
    if (this.embedded && this.page.isPage) {
      addEventListener("resize", () => this.page.draw());
      addEventListener("keydown", (event) => { if (event.key === "Escape") document.activeElement?.blur(); });
    }
    if (!this.framed || (this.embedded && !this.page.isPage)) return;
    addEventListener("message", (event) => this.told(event));
    new ResizeObserver(() => this.tellHeight()).observe(element);
    this.tell("ready", { version: 1 });
  }

  place() {
    if (!this.embedded) return;
    this.page.element.append(this.strip);
    if (this.page.isPage) this.page.element.append(this.page.window.list.problem);
  }

  translate() {
    this.build();
    this.place();
    if (this.framed) new ResizeObserver(() => this.tellHeight()).observe(this.page.element);
  }

  step(by) {
    const { store } = this.page;
    const { state } = store;
    const here = state.scale ? (by > 0 ? Math.floor(state.scale.log2) : Math.ceil(state.scale.log2)) : state.k;
    store.act({ k: Math.max(-40, Math.min(40, here + by)), scale: null });
  }

  // Draw in the roomiest layout that fits. The height asked of the host is that of one layout, whatever the
  // box is now: it depends on width and state alone, so asking cannot go round in circles.
  fit(draw) {
    if (!this.embedded || !this.page.isPage) return draw();
    this.wanted = this.heightIn("roomy", draw);
    if (this.wanted > innerHeight) TIGHTER.find((layout) => this.heightIn(layout, draw) <= innerHeight);
    else if (this.heightIn("full", draw) > innerHeight) this.heightIn("roomy", draw);
    return this.tellHeight();
  }

  heightIn(layout, draw) {
    this.layout = layout;
    change(this.page.element, { "data-layout": layout });
    draw();
    return this.height();
  }

  height() {
    return Math.ceil(this.page.element.getBoundingClientRect().height);
  }

  show(state) {
    if (!this.embedded) return;
    write(this.value, state.scale ? `S = ${state.scale.token}` : `S = ${power(state.k)}`);
    change(this.full, { href: this.page.address({ embed: false }) });
  }

  // A longer sentence can need more room than the drawing left.
  refit() {
    if (this.embedded && this.page.isPage && this.layout !== "strip" && this.height() > innerHeight) this.page.draw();
  }

  tellHeight() {
    if (!this.framed || this.telling) return;
    this.telling = setTimeout(() => {
      this.telling = null;
      const height = this.embedded ? this.wanted : this.height();
      if (!height || height === this.asked) return;
      this.asked = height;
      this.tell("height", { height });
      parent.postMessage({ height }, "*");
      parent.postMessage(JSON.stringify({ subject: "lti.frameResize", height }), "*");
    }, PACE);
  }

  rested() {
    if (this.framed) this.tell("state", { state: this.publicState() });
  }

  publicState() {
    const { store } = this.page;
    const { state, lookups } = store;
    return { link: this.page.link(), outcomes: state.gradients.map((gradient) => lookups.row(gradient, state).outcome) };
  }

  tell(type, content) {
    parent.postMessage({ namespace: "lossscale", type, ...content }, "*");
  }

  // Anything that is not one of the three messages, in their form, is ignored.
  told({ source, data }) {
    if (source !== parent || data?.namespace !== "lossscale") return;
    if (data.type === "get") this.tell("state", { state: this.publicState() });
    if (data.type === "reset") this.page.store.begin(this.page.setup.beginning);
    if (data.type === "set" && typeof data.link === "string") this.set(data.link);
  }

  // A link with any part that is bad changes nothing; Python tells where the numbers are its to read.
  set(link) {
    const { page } = this;
    const { ignored, unread } = page.codec.read(link);
    if (ignored.length) return;
    if (!unread.length) page.goTo(link);
    else if (page.store.online) page.store.openLink(link, true);
  }
}
