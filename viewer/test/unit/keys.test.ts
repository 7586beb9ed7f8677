import assert from "node:assert/strict";
import test from "node:test";
import { ACTIONS, GROUPS, keyText, nameOf } from "../../src/keys";

test("no key means two things, nothing is twice, everything can be reached", () => {
  const keys = ACTIONS.flatMap((one) => one.keys);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(new Set(ACTIONS.map(({ id }) => id)).size, ACTIONS.length);
  for (const one of ACTIONS) {
    assert.ok(GROUPS.includes(one.group) && one.title !== "", one.id);
    assert.ok(one.run || one.pointer || one.id === "tab", one.id);
  }
});

test("pressed keys have the names of the table", () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  assert.equal(nameOf({ ...plain, key: "w" }), "w");
  assert.equal(nameOf({ ...plain, key: "P", shiftKey: true }), "P");
  assert.equal(nameOf({ ...plain, key: "?", shiftKey: true }), "?");
  assert.equal(nameOf({ ...plain, key: "Z", shiftKey: true, ctrlKey: true }), "Ctrl+Shift+z");
  assert.equal(nameOf({ ...plain, key: "k", metaKey: true }), "Ctrl+k");
  assert.equal(nameOf({ ...plain, key: "ArrowUp", altKey: true }), "Alt+ArrowUp");
  assert.deepEqual(["w", "P", "Ctrl+k", "Alt+ArrowUp", "+", "-"].map(keyText), ["W", "Shift+P", "Ctrl+K", "Alt+↑", "+", "−"]);
});
