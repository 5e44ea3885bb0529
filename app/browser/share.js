// Sharing: the link of the state, a QR code of it, snippets for the places courses live in, and files of what is shown.

import { change, html, svg, write } from "./dom.js";
import { Exports } from "./exports.js";

export class Share {
  constructor(store, { snippets, live }) {
    const { words } = store;
    Object.assign(this, { store, snippets, live });
    this.link = html("input", { class: "share-link", type: "text", readonly: true, id: "lse-share-link" });
    this.kind = html("select", { id: "lse-share-kind", onchange: () => this.fillSnippet() },
      ...Object.keys(snippets).map((name) => html("option", { value: name }, name)));
    this.snippet = html("textarea", { class: "share-snippet", readonly: true, rows: 6, "aria-label": words.say("shareSnippet"), spellcheck: "false" });
    this.code = html("div", { class: "share-code" });
    this.told = html("p", { class: "share-told", role: "status" });
    this.exports = new Exports(store, (field) => this.copier(field), this.told);
    this.download = live.download ? html("a", { class: "button", download: "" }, words.say("shareDownload")) : null;
    this.dialog = html("dialog", { class: "share", "aria-labelledby": "lse-share-title" },
      html("h2", { id: "lse-share-title" }, words.say("shareTitle")),
      html("label", { for: "lse-share-link" }, words.say("shareLink")),
      html("div", { class: "share-row" }, this.link, this.copier(this.link)),
      this.code,
      html("label", { for: "lse-share-kind" }, words.say("shareEmbed")),
      html("div", { class: "share-row" }, this.kind, this.copier(this.snippet)),
      this.snippet, this.exports.element, this.told,
      html("div", { class: "share-row ends" }, this.download, html("button", { type: "button", onclick: () => this.dialog.close() }, words.say("close"))));
    this.button = html("button", { type: "button", class: "open-share", onclick: () => this.open() }, html("span", {}, words.say("share")));
  }

  open() {
    this.link.value = this.store.page.address();
    if (this.download) change(this.download, { href: this.live.download + this.store.page.link() });
    this.fillSnippet();
    this.exports.clear();
    this.code.replaceChildren();
    write(this.told, "");
    if (this.live.asks && this.store.online) this.store.model.send_msg({ qr: this.link.value });
    this.dialog.showModal();
  }

  fillSnippet() {
    const values = { src: this.store.page.address({ embed: true }).replaceAll("&", "&amp;"), title: this.store.words.say("embedTitle") };
    this.snippet.value = this.snippets[this.kind.value].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  // The path of a QR code that Python drew, in modules, with its quiet zone.
  draw({ path, size, link }) {
    if (link !== this.link.value) return;
    this.code.replaceChildren(svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": this.store.words.say("shareCode") },
      svg("rect", { width: size, height: size, fill: "#fff" }), svg("path", { d: path, stroke: "#000", "stroke-width": 1 })));
  }

  copier(field) {
    const { words } = this.store;
    return html("button", { type: "button", onclick: async () => {
      field.focus();
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
        write(this.told, words.say("copied"));
      } catch {
        // Without leave to write the clipboard the text stays selected for the reader's own keys.
        write(this.told, document.execCommand?.("copy") ? words.say("copied") : words.say("copyYourself"));
      }
    } }, words.say("copy"));
  }
}
