// The list of gradients as people edit it: a box a row, beside its bar, and a box for new ones.

import { change, html, write } from "./dom.js";
import { MOST_GRADIENTS } from "./link.js";
import { pretty, typed } from "./words.js";

export class GradientList {
  constructor(store) {
    const { words } = store;
    this.store = store;
    this.rows = html("div", { class: "row-labels" });
    this.field = html("input", {
      class: "field", id: "lse-add", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "1e-8, −3",
    });
    this.scaleField = html("input", {
      class: "field", id: "lse-scale", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "1000",
    });
    this.addForm = entry(this.field, words.say("addLabel"), words.say("addButton"), () => this.add());
    this.scaleForm = entry(this.scaleField, words.say("scaleLabel"), words.say("scaleButton"), () => this.typeScale());
    this.field.addEventListener("paste", (event) => this.paste(event));
    this.problem = html("p", { class: "problem", role: "alert", id: "lse-problem" });
    this.forms = html("div", { class: "entries" }, this.addForm, this.scaleForm, this.elsewhere(), this.problem);
  }

  // What a saved page cannot do is offered where it can be done.
  elsewhere() {
    const { words, model, live } = this.store;
    if (!model.saved) return null;
    return html("p", { class: "elsewhere" }, live.address
      ? html("a", { href: live.address, target: "_blank", rel: "noopener" }, words.say("openLive"))
      : words.say("liveUnknown"));
  }

  // Boxes are kept across drawings, so that the one being typed in keeps its text and the focus.
  draw({ top, pitch, unit, nameSize }, width, labelWidth) {
    const { state } = this.store;
    while (this.rows.children.length > state.gradients.length) this.rows.lastChild.remove();
    while (this.rows.children.length < state.gradients.length) this.rows.append(this.row(this.rows.children.length));
    state.gradients.forEach((gradient, index) => {
      const row = this.rows.children[index];
      change(row, { style: `top:${top + index * pitch}px;height:${pitch}px;width:${width}px`, "data-selected": index === state.selected });
      const [box, remove] = row.children;
      change(box, { style: `width:${labelWidth - 10 * unit}px;font-size:${nameSize * unit}px` });
      const name = pretty(this.store.lookups.name(gradient));
      if (row.getRootNode().activeElement !== box && !box.dataset.asked) this.settle(box);
      change(box, { "aria-label": this.store.words.say("gradientName", { index: index + 1, name }) });
      change(remove, { "aria-label": this.store.words.say("remove", { name }), title: this.store.words.say("remove", { name }) });
    });
    const full = state.gradients.length >= MOST_GRADIENTS;
    this.field.disabled = full;
    this.addForm.lastChild.disabled = full;
  }

  row(index) {
    const { store } = this;
    const box = html("input", {
      class: "gradient-box", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      onfocus: () => {
        store.pick(index);
        // What was refused is there to be mended.
        if (box.dataset.asked === undefined) box.value = store.state.gradients[index].token;
        box.select();
      },
      onblur: () => this.commit(box, index),
      onkeydown: (event) => {
        if (event.key === "Enter") { event.preventDefault(); this.commit(box, index); }
        if (event.key === "Escape") { this.settle(box); store.page.problem(""); box.blur(); }
      },
    });
    const remove = html("button", { class: "remove", type: "button", onclick: () => this.remove(index) }, "×");
    return html("div", { class: "row-label" }, box, remove);
  }

  commit(box, index) {
    const { store } = this;
    const text = box.value.trim();
    const gradient = store.state.gradients[index];
    // What was asked and refused stays in the box, and is not asked again unchanged.
    if (!gradient || text === box.dataset.asked) return;
    if (text === gradient.token || text === typed(store.lookups.name(gradient))) this.settle(box);
    else if (text === "") {
      store.removeGradient(index);
      this.settle(box);
    } else {
      box.dataset.asked = text;
      store.typeGradients(splice(store.state.gradients, index, 1, text), box);
    }
  }

  // Keep what was refused in a former list, which was in another language, and be told in this one why.
  follow(former) {
    [...former.rows.children].forEach(({ firstChild: { value, dataset: { asked } } }, index) => {
      const row = this.row(index);
      this.rows.append(row);
      if (asked === undefined) return;
      row.firstChild.value = value;
      row.firstChild.dataset.asked = asked;
    });
    const place = former.boxes().findIndex((box) => box.ariaInvalid === "true");
    if (place < 0) return;
    const box = this.boxes()[place];
    box.value = former.boxes()[place].value;
    queueMicrotask(() => this.askAgain(box));
  }

  askAgain(box) {
    if (box === this.field) return this.add();
    if (box === this.scaleField) return this.typeScale();
    delete box.dataset.asked;
    return this.commit(box, this.boxes().indexOf(box) - 2);
  }

  // The box for new gradients, that of the scale, and one for each row.
  boxes() {
    return [this.field, this.scaleField, ...this.rows.querySelectorAll("input")];
  }

  // Show in a box what its row holds now: as it was typed while the reader is in it, else as it is named.
  settle(box) {
    const gradient = this.store.state.gradients[[...this.rows.children].indexOf(box.parentNode)];
    delete box.dataset.asked;
    change(box, { "aria-invalid": null, "aria-describedby": null });
    if (gradient) box.value = box.getRootNode().activeElement === box ? gradient.token : typed(this.store.lookups.name(gradient));
  }

  // A new beginning takes back what was typed and could not be read.
  forget() {
    for (const row of this.rows.children) this.settle(row.firstChild);
  }

  // The focus goes on to the next row, or to the box for new ones.
  remove(index) {
    this.store.removeGradient(index);
    const left = this.rows.children;
    const next = left.length ? left[Math.min(index, left.length - 1)].lastChild : this.field;
    next.focus();
  }

  // What was typed in a box has been read; what has been typed there since is still to be read.
  taken(box, text) {
    if (box === this.field || box === this.scaleField) box.value = box.value === text ? "" : box.value;
    else if (this.rows.contains(box) && box.dataset.asked === text.trim()) this.settle(box);
  }

  add() {
    const { store } = this;
    if (this.field.value.trim() === "") return this.field.focus();
    return store.typeGradients(splice(store.state.gradients, store.state.gradients.length, 0, this.field.value), this.field);
  }

  // A pasted column keeps its separators, which a one-line box would drop.
  paste(event) {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!/[\r\n]/.test(text)) return;
    event.preventDefault();
    this.field.setRangeText(text.trim().replace(/\s*[\r\n]+\s*/g, ", "), this.field.selectionStart, this.field.selectionEnd, "end");
  }

  typeScale() {
    if (this.scaleField.value.trim() !== "") this.store.typeScale(this.scaleField.value.trim(), this.scaleField);
  }

  show(message, box) {
    write(this.problem, message);
    for (const field of this.boxes()) {
      const wrong = message !== "" && field === box;
      change(field, { "aria-invalid": wrong ? "true" : null, "aria-describedby": wrong ? "lse-problem" : null });
    }
  }
}

// A labelled box and its button. Not a form: a sandboxed frame may not be allowed to submit one.
const entry = (field, label, button, enter) => {
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") enter(); });
  return html("div", { class: "entry" }, html("label", { for: field.id }, label), field, html("button", { type: "button", onclick: enter }, button));
};

const splice = (gradients, start, count, text) => {
  const tokens = gradients.map((gradient) => gradient.token);
  tokens.splice(start, count, text);
  return tokens;
};
