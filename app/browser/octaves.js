// Dragging a gradient by octaves: with a pointer along an axis, or with the arrow keys.

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -4, PageUp: 4 };

// `pixels()` is the width of an octave; `direction` is -1 where the gradient grows to the left.
export function draggable(element, { pixels, direction = 1, octave, move, rest, pick }) {
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = { x: event.clientX, octave: octave() };
    // The hand is followed on the window, since what it holds can be drawn anew under it.
    addEventListener("pointermove", follow);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", drop);
    pick();
  });
  const follow = (event) => move(start.octave + direction * Math.round((event.clientX - start.x) / pixels()));
  const drop = () => {
    removeEventListener("pointermove", follow);
    removeEventListener("pointerup", drop);
    removeEventListener("pointercancel", drop);
    rest();
  };
  element.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    pick();
    move(octave() + step);
    rest();
  });
}
