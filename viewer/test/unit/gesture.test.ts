import assert from "node:assert/strict";
import { test } from "node:test";
import { Gesture, wheel, type Command, type Pointer, type Wheel } from "../../src/gesture";

const pointer = (over: Partial<Pointer>): Pointer => ({
  id: 1, x: 100, y: 50, button: 0, touch: false, shift: false, ctrl: false, alt: false, place: "canvas", ...over,
});
const notch = (over: Partial<Wheel>): Wheel => ({ x: 5, y: 6, dx: 0, dy: 100, shift: false, ctrl: false, alt: false, ...over });

function dragged(over: Partial<Pointer>): Command[] {
  const gesture = new Gesture();
  return [
    ...gesture.down(pointer(over)),
    ...gesture.move(pointer({ ...over, x: 102 })),
    ...gesture.move(pointer({ ...over, x: 130, y: 70 })),
    ...gesture.up(pointer({ ...over, x: 140, y: 70 })),
  ];
}

test("a drag selects, with Shift measures, with the middle button or on the ruler pans", () => {
  assert.deepEqual(dragged({}).at(-1), { do: "range", x0: 100, y0: 50, x1: 140, y1: 70, done: true });
  assert.deepEqual(dragged({ shift: true }).at(-1), { do: "measure", x0: 100, y0: 50, x1: 140, y1: 70, done: true });
  for (const over of [{ button: 1 }, { place: "ruler" as const }, { touch: true }]) {
    const pans = dragged(over);
    assert.deepEqual(pans.map((command) => command.do), ["pan", "pan"]);
    assert.equal(pans.reduce((sum, command) => sum + (command.do === "pan" ? command.dx : 0), 0), 40);
  }
});

test("a press without a move is a click, with its keys", () => {
  for (const [shift, ctrl] of [[false, false], [true, false], [false, true]] as const) {
    const gesture = new Gesture();
    gesture.down(pointer({ shift, ctrl }));
    gesture.move(pointer({ x: 102, shift, ctrl }));
    assert.deepEqual(gesture.up(pointer({ x: 102 })), [{ do: "click", x: 102, y: 50, extend: shift, add: ctrl }]);
  }
});

test("Escape ends a drag; what the pointer does after it means nothing", () => {
  const gesture = new Gesture();
  gesture.down(pointer({}));
  gesture.move(pointer({ x: 200 }));
  assert.deepEqual(gesture.cancel(), [{ do: "cancel" }]);
  assert.deepEqual(gesture.move(pointer({ x: 220 })), []);
  assert.deepEqual(gesture.up(pointer({ x: 220 })), []);
  assert.deepEqual(gesture.cancel(), []);
});

test("the wheel and its keys; the option swaps the first two", () => {
  const done = (over: Partial<Wheel>, zooms: boolean) => wheel(notch(over), zooms).map((command) => command.do);
  assert.deepEqual(done({}, false), ["scrollTimelines"]);
  assert.deepEqual(done({ ctrl: true }, false), ["zoomTime"]);
  assert.deepEqual(done({}, true), ["zoomTime"]);
  assert.deepEqual(done({ ctrl: true }, true), ["scrollTimelines"]);
  assert.deepEqual(done({ shift: true }, false), ["panTime"]);
  assert.deepEqual(done({ alt: true }, false), ["zoomTimelines"]);
  const [zoom] = wheel(notch({ ctrl: true, dy: -100 }), false);
  assert.ok(zoom?.do === "zoomTime" && Math.abs(zoom.factor - 2 ** 0.25) < 1e-12);
});

test("two fingers pinch", () => {
  const gesture = new Gesture();
  const finger = (id: number, x: number, y = 50) => pointer({ id, x, y, touch: true });
  gesture.down(finger(1, 100));
  gesture.down(finger(2, 200));
  const [pinch] = gesture.move(finger(2, 300));
  assert.ok(pinch?.do === "pinch" && pinch.factor === 2 && pinch.x === 200 && pinch.timelineFactor === 1);
  assert.deepEqual(gesture.up(finger(2, 300)).map((command) => command.do), ["pinch"]);
  assert.deepEqual(gesture.up(finger(1, 100)), []);
});
