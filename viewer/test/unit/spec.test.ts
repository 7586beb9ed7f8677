import assert from "node:assert/strict";
import test from "node:test";
import { hasKey, item, keysOf, listOf, sharedWith, withItem, withKey, withNode } from "../../src/spec";

test("items are read and replaced, others stay", () => {
  const spec = "map:1;only:0-63,!5;sort:-kind:3";
  assert.equal(item(spec, "only"), "0-63,!5");
  assert.equal(item(spec, "sort"), "-kind:3");
  assert.equal(item(spec, "pin"), null);
  assert.equal(withItem(spec, "only", null), "map:1;sort:-kind:3");
  assert.equal(item(withItem(spec, "map", "2"), "map"), "2");
  assert.equal(withItem("", "hide", "3"), "hide:3");
  assert.equal(withItem("hide:3", "hide", ""), "");
});

test("keys of lists", () => {
  assert.deepEqual(keysOf("3,7-9,n12"), ["3", "7", "8", "9", "n12"]);
  assert.deepEqual(keysOf("x,,1-,n"), []);
  assert.equal(listOf(["3", "7", "8", "9", "n12", "n13"]), "3,7-9,n12,n13");
  assert.equal(listOf(["9", "8"]), "9,8");
  for (const list of ["", "1", "1,2", "5-9,3", "n1,4-7"]) assert.equal(listOf(keysOf(list)), list);
});

test("a key goes in once and out again; a node is open or shut", () => {
  const pinned = withKey(withKey("", "pin", "3", true), "pin", "3", true);
  assert.equal(pinned, "pin:3");
  assert.ok(hasKey(pinned, "pin", "3"));
  assert.equal(withKey(pinned, "pin", "3", false), "");
  assert.equal(withNode(withNode("", "n1", true), "n1", false), "shut:n1");
});

test("what is told by numbers and names is told of another trace, too", () => {
  const above = ["Process View", "Node View (0 node0, 1 node1)", "Identity Map"];
  const below = ["Process View", "Communicator View", "Node View (0 node7)"];
  assert.equal(sharedWith("", above, below), "");
  assert.equal(sharedWith("only:1-3;hide:4;pin:2,n5;sort:-busy;order:3,2", above, below), "only:1-3");
  assert.equal(sharedWith("groups:odd=1-/2|even=0-/2", above, below), "groups:odd=1-/2|even=0-/2");
  assert.equal(sharedWith("map:1;only:rank*;fold:0;open:n2", above, below), "map:2;only:rank*;fold:0");
  assert.equal(sharedWith("map:2;only:3", above, below), "");
  assert.equal(sharedWith("only:3;fold:0", ["Process-Thread View"], below), "only:3");
});
