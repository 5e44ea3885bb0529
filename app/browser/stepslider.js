// Which step is looked at: a native slider as long as the charts' axis of steps.

import { change, html } from "./dom.js";

export class StepSlider {
  constructor(name, look) {
    this.input = html("input", { type: "range", class: "step-slider", min: 1, max: 1, step: 1, "aria-label": name, oninput: () => look(this.input.valueAsNumber) });
    this.element = html("div", { class: "step-row" }, this.input);
  }

  place({ left, right }, steps) {
    const room = (right - left) / steps, thumb = parseFloat(getComputedStyle(this.element).getPropertyValue("--step-thumb"));
    change(this.input, { max: steps, style: `left:${left + room / 2 - thumb / 2}px;width:${right - left - room + thumb}px` });
  }

  show(step, spoken) {
    this.input.value = step;
    change(this.input, { "aria-valuetext": spoken });
  }
}
