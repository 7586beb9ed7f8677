import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../src/history";

test("undo goes back step by step, redo forth, and something new forgets what was undone", () => {
  const history = new History<number>();
  history.push(0, "", 0);
  history.push(1, "", 1);
  assert.equal(history.undo(2), 1);
  assert.equal(history.undo(1), 0);
  assert.equal(history.undo(0), null);
  assert.equal(history.redo(0), 1);
  assert.equal(history.redo(1), 2);
  assert.equal(history.redo(2), null);
  assert.equal(history.undo(2), 1);
  history.push(1, "", 2);
  assert.equal(history.canRedo, false);
});

test("the ticks of a wheel are one step, those after a rest another", () => {
  const history = new History<number>();
  history.push(0, "zoom", 0);
  history.push(1, "zoom", 300);
  history.push(2, "zoom", 900);
  history.push(3, "zoom", 5000);
  history.push(4, "pan", 5001);
  assert.deepEqual([history.undo(5), history.undo(4), history.undo(3), history.undo(0)], [4, 3, 0, null]);
});

test("what is undone begins a new step", () => {
  const history = new History<number>();
  history.push(0, "zoom", 0);
  assert.equal(history.undo(1), 0);
  history.push(0, "zoom", 10);
  assert.equal(history.undo(2), 0);
});
