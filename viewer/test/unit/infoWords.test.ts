import assert from "node:assert/strict";
import { test } from "node:test";
import { infoWords } from "../../src/infoWords";

test("an operation on a file is told by the name of the file, without what says nothing", () => {
  const info: [string, string][] = [
    ["CallID", "0x10000000004"], ["file", "1"], ["fd", "29"], ["offset", "1048576"], ["size", "65536"], ["result", "65536"], ["filler", "0"], ["errno", "0"], ["details", ""], ["operation", "4"],
  ];
  assert.deepEqual(infoWords({ class: "disk", info, bytes: 65536, file: "out.dat" }), [
    ["CallID", "0x10000000004"], ["file", "out.dat"], ["file descriptor", "29"], ["offset", "1\u2009048\u2009576"],
  ]);
  const failed: [string, string][] = [["file", "0"], ["fd", "-1"], ["offset", "-1"], ["size", "-1"], ["result", "-1"], ["errno", "2"], ["details", "O_RDONLY"]];
  assert.deepEqual(infoWords({ class: "disk", info: failed, bytes: null, file: null }), [["file number", "0"], ["result", "-1"], ["error number", "2"], ["details", "O_RDONLY"]]);
});

test("other values are all told, large numbers as everywhere", () => {
  const info: [string, string][] = [["CallID", "0x5"], ["handle", "0"], ["tag", "1234567"], ["count", "1234567"], ["bytes", "8"], ["note", ""]];
  assert.deepEqual(infoWords({ class: "io", info, bytes: 8, file: null }), [["CallID", "0x5"], ["file handle", "0"], ["tag", "1234567"], ["count", "1\u2009234\u2009567"], ["note", ""]]);
});

test("the handle of a one-sided call is that of a window, not of a file", () => {
  assert.deepEqual(infoWords({ class: "rma", info: [["handle", "2"]], bytes: null, file: null }), [["window", "2"]]);
  assert.deepEqual(infoWords({ class: "other", info: [["handle", "2"]], bytes: null, file: null }), [["handle", "2"]]);
});
