// Whose gradients are shown: distributions that come with the page, or a file of the reader's own.

import { change, html, write } from "./dom.js";

export class DataCard {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.buttons = html("ul", {});
    this.note = html("p", { class: "data-note" });
    this.file = html("input", { type: "file", id: "lse-file", accept: ".npy,.npz,.safetensors,.csv,.txt", onchange: () => this.send(this.file.files[0]) });
    this.label = html("label", { for: "lse-file" }, words.say("fileLabel"));
    this.progress = html("progress", { max: 1, "aria-label": words.say("fileProgress") });
    this.working = html("span", {});
    this.cancel = html("button", { type: "button", onclick: () => this.stop() }, words.say("cancel"));
    this.busy = html("div", { class: "busy", role: "status" }, this.progress, this.working, this.cancel);
    this.problem = html("p", { class: "problem", role: "alert" });
    const own = store.model.saved
      ? html("p", { class: "elsewhere" }, store.live.address
        ? html("a", { href: store.live.address, target: "_blank", rel: "noopener" }, words.say("openLiveFile"))
        : words.say("fileUnknown"))
      : html("div", { class: "own-file" }, this.label, this.file, html("p", { class: "quiet" }, words.say("fileLimits")));
    this.element = html("section", { class: "card try data", "aria-labelledby": "lse-data-title" },
      html("h2", { id: "lse-data-title" }, words.say("dataTitle")), this.buttons, this.note, own, this.busy, this.problem);
    this.wait(null);
    if (!store.model.saved) this.takeDrops();
  }

  show() {
    const { state, words, distributions } = this.store;
    const offered = [...(distributions.opened ? ["file"] : []), ...distributions.offered.filter((id) => id !== "file")];
    while (this.buttons.children.length < offered.length) this.buttons.append(html("li", {}, html("button", { type: "button" })));
    offered.forEach((id, index) => {
      const button = this.buttons.children[index].firstChild;
      write(button, this.name(id));
      change(button, { "aria-pressed": id === state.data ? "true" : "false", "data-id": id });
      button.onclick = () => this.choose(id);
    });
    write(this.note, words.has(`data-${state.data}-note`) ? words.say(`data-${state.data}-note`) : this.summary());
  }

  choose(id) {
    const { store } = this;
    this.tell("");
    if (store.online || store.distributions.get(id)) store.act({ data: id });
    else this.tell(store.words.say("dataNeedsServer"));
  }

  name(id) {
    const { words, distributions } = this.store;
    return words.has(`data-${id}`) ? words.say(`data-${id}`) : distributions.get(id)?.name ?? words.say("openedFile");
  }

  summary() {
    const { state, words, distributions } = this.store;
    const data = distributions.get(state.data);
    return data ? words.say("fileSummary", { n: data.tensors.length, values: words.number(data.size), tensors: words.number(data.tensors.length) }) : "";
  }

  takeDrops() {
    const { element } = this;
    const over = (event) => { if (event.dataTransfer?.types.includes("Files")) { event.preventDefault(); element.dataset.over = ""; } };
    element.addEventListener("dragenter", over);
    element.addEventListener("dragover", over);
    element.addEventListener("dragleave", () => { delete element.dataset.over; });
    element.addEventListener("drop", (event) => {
      delete element.dataset.over;
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.send(event.dataTransfer.files[0]);
    });
  }

  // The bytes go to the server, which then reads and counts; both can be stopped.
  send(file) {
    const { store } = this;
    const { words } = store;
    if (!file) return;
    this.tell("");
    if (!store.online) return void this.tell(words.say("fileNeedsServer"));
    this.stop();
    const request = new XMLHttpRequest();
    this.request = request;
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => this.wait(words.say("fileSending", { name: file.name }), loaded / Math.max(1, total));
    request.onload = () => {
      this.request = null;
      const { upload, problem } = request.response ?? {};
      if (!upload) return this.failed(problem ?? words.say("fileNotSent", { name: file.name }));
      this.wait(words.say("fileCounting", { name: file.name }), 0);
      return store.readUpload(upload);
    };
    request.onerror = () => this.failed(words.say("fileNotSent", { name: file.name }));
    request.open("POST", `upload?name=${encodeURIComponent(file.name)}&language=${words.language}`);
    this.wait(words.say("fileSending", { name: file.name }), 0);
    request.send(file);
    // The same file can be chosen again, once it has been mended.
    this.file.value = "";
  }

  stop() {
    this.request?.abort();
    this.request = null;
    this.store.cancelUpload();
    this.wait(null);
  }

  failed(sentence) {
    this.request = null;
    this.wait(null);
    this.tell(sentence);
  }

  tell(sentence) {
    write(this.problem, sentence);
  }

  wait(what, share = 0) {
    change(this.busy, { "data-hidden": what === null });
    if (what === null) return;
    if (what !== undefined) write(this.working, what);
    this.progress.value = share;
  }
}
