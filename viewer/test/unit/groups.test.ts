import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, namesOf, neighbours, withGroupMoved, withGroups, withoutGroup } from "../../src/groups";

test("groups are lines of text, and come back from the text of timelines", () => {
  const found = withGroups("map:1;pin:3", "odd ranks = 1-/2\n\n first eight=0-7 ");
  assert.deepEqual(found, { spec: "map:1;pin:3;groups:odd ranks=1-/2|first eight=0-7" });
  assert.ok("spec" in found);
  assert.equal(linesOf(found.spec), "odd ranks = 1-/2\nfirst eight = 0-7");
  assert.deepEqual(withGroups(found.spec, ""), { spec: "map:1;pin:3" });
  assert.equal(linesOf("map:1"), "");
  assert.deepEqual([namesOf(found.spec), namesOf("map:1")], [["odd ranks", "first eight"], []]);
  assert.equal(withoutGroup(found.spec, "odd ranks"), "map:1;pin:3;groups:first eight=0-7");
  assert.equal(withoutGroup("groups:a=1", "a"), "");
  assert.equal(withoutGroup("map:1", "a"), "map:1");
});

test("what would end a group is no part of a name, and a line that is none is named", () => {
  assert.deepEqual(withGroups("", "a;b|c = 1;2"), { spec: "groups:a b c=1 2" });
  for (const line of ["odd ranks", "= 1-/2", "odd ="]) {
    const found = withGroups("", line);
    assert.ok("wrong" in found && found.wrong.includes(line), line);
  }
});

test("neighbours are groups of so many, and never too many groups", () => {
  assert.equal(neighbours(20, 8), "0 – 7 = 0-7\n8 – 15 = 8-15\n16 – 19 = 16-19");
  assert.equal(neighbours(10_000, 2).split("\n").length, 64);
  assert.equal(neighbours(0, 8), "");
});

test("groups are moved by name", () => {
  const spec = "map:1;groups:a=0-1|b=2-3|c=4-7";
  const groups = (name: string, before: string | null) => namesOf(withGroupMoved(spec, name, before)).join("");
  assert.equal(withGroupMoved(spec, "c", "a"), "map:1;groups:c=4-7|a=0-1|b=2-3");
  assert.equal(groups("a", "c"), "bac");
  assert.equal(groups("a", null), "bca");
  // Before what is no group is behind all groups.
  assert.equal(groups("b", "rank 9"), "acb");
  assert.equal(withGroupMoved(spec, "b", "b"), spec);
  assert.equal(withGroupMoved(spec, "rank 9", "a"), spec);
});
