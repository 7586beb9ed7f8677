import assert from "node:assert/strict";
import test from "node:test";
import { ALL_TIMELINES, decode, encode, numbersOf, numbersText, START, type View, withKinds } from "../../src/url";

test("every part of a view comes back from its text", () => {
  const all: View = {
    trace: 2, other: 1, align: "name:solve, 50%: é&=#", nth: 12, stretch: true, t0: 1.25e-7, t1: 12.043900000001, top: 31.25, height: 7.5, timelines: "map:1;only:0-63,!5;pin:3,n12", hide: [0, 3, 4, 5, 255],
    mode: "heat", heat: 7, arrows: "all", path: true, tracks: ["ranks", "counter:perf::cycles:u"], sel: ["3.17.0.0353", "0.0.1.0!1", "-2.1.5e-9~4.0.25", "-2.1.5e-9~4.0.25!12"], range: { t0: 1, t1: 2.5, y0: 3, y1: 9 },
    full: "n12", sums: "sum dur by rank where dur>1ms & é=#%+", query: 'file:"*.h5" dur>1ms & é=#%+', panel: "matrix", palette: "safe", own: [[3, "#ff8800"], [70, "#00aa0f"]],
    names: [["7", "Exchange, 50%: all"], ["0.15", "late rank"], ["0.1-3,7", "odd, at first"], ["1.n3", "node %2C"]], theme: "dark",
    notes: [{ t: 0.0123, of: "0.15", text: "late, 100%: why?" }, { t: 1.5e-7, of: "1.n3", text: "another %2C" }], pins: ["1.2.3"],
  };
  assert.deepEqual(decode(`#${encode(all)}`), all);
  for (const [key, value] of Object.entries(all)) {
    const one = { ...START, t0: 0, t1: 1, [key]: value } as View;
    if (key === "mode") one.heat = all.heat;
    if (key === "heat") one.mode = "heat";
    assert.deepEqual(decode(encode(one)), one, key);
  }
  assert.equal(encode(START), "");
});

test("texts that nobody wrote are no views", () => {
  for (const text of ["", "#", "t=", "t=2~1", "t=a~b", "hide=<script>", "range=1~2~3", "panel=__proto__", "mode=heat:x", "sel=<b>", "own=3:red,x:00ff00,4:#123456", "%%%", "height=1e9", "&&&=="]) {
    const found = decode(text);
    assert.deepEqual(found.own, []);
    assert.ok(Number.isNaN(found.t0) && found.hide.length === 0 && found.sel.length === 0, text);
    assert.ok(found.range === null && found.height <= 4000 && found.panel === START.panel, text);
  }
});

test("links of earlier versions, which said rows, show the same", () => {
  const old = decode("t=1~2&row=7.5&rows=map:1;pin:3&panel=rows");
  assert.deepEqual(old, decode("t=1~2&height=7.5&timelines=map:1;pin:3&panel=timelines"));
  assert.deepEqual([old.height, old.timelines, old.panel], [7.5, "map:1;pin:3", "timelines"]);
});

test("a note without a text, or with a place that is none, is no note", () => {
  assert.equal(encode({ ...START, notes: [{ t: 1, of: "0.1", text: "" }] }), "");
  for (const text of ["x@0.1:a", "1@0:a", "1@0.1:", "1@0.x:a", "1@0.1", "@0.1:a", "1e999@0.1:a"]) assert.deepEqual(decode(`notes=${text}`).notes, [], text);
});

test("a range on all timelines says so whatever their number is", () => {
  const range = { t0: 1, t1: 2.5, y0: 0, y1: ALL_TIMELINES };
  assert.equal(encode({ ...START, range }), "range=1~2.5");
  assert.deepEqual(decode("range=1~2.5").range, range);
  assert.equal(decode("range=2.5~1").range, null);
});

test("numbers as ranges", () => {
  assert.equal(numbersText([3, 1, 2, 7, 9, 8, 20, 21]), "1-3,7-9,20,21");
  for (const list of [[], [0], [5, 6], [1, 2, 3, 9]]) assert.deepEqual(numbersOf(numbersText(list)), list);
  assert.deepEqual(numbersOf("9-1,x,-3,4"), [4]);
  assert.equal(numbersOf("0-99999").length, 65_536);
  assert.equal(numbersOf(Array(1e5).fill("0-65535").join()).length, 65_536);
});

test("a text that is cut within a letter can stand in an address", () => {
  const letter = "\u{1f600}";
  for (const key of ["query", "sums"] as const) {
    const found = decode(encode({ ...START, [key]: "a".repeat(999) + letter }));
    assert.equal(found[key], "a".repeat(999), key);
    assert.equal(decode(encode(found))[key], found[key]);
  }
  assert.equal(decode(encode({ ...START, query: letter })).query, letter);
  assert.deepEqual(decode(encode({ ...START, names: [["3", "b".repeat(79) + letter]] })).names, [["3", "b".repeat(79)]]);
  assert.equal(encode({ ...START, query: letter[0]! }), "q=");
});

test("kinds of a part have their own numbers", () => {
  const whole: View = {
    ...START, hide: [0, 2, 3], heat: 2, mode: "heat", own: [[1, "#ff0000"], [3, "#00ff00"]], names: [["3", "third"], ["1", "gone"], ["0.15", "rank"]],
    sel: ["4.3.0.5", "4.1.0.5", "-2.0.5e-9~4.0.25"], pins: ["1.2.3"],
  };
  // The second kind is not in the part, and the others are there in another order.
  const part = withKinds(whole, [2, -1, 0, 1]);
  assert.deepEqual([part.hide, part.heat, part.mode, part.own], [[0, 1, 2], 0, "heat", [[1, "#00ff00"]]]);
  assert.deepEqual(part.names, [["1", "third"], ["0.15", "rank"]]);
  assert.deepEqual([part.sel, part.pins], [["4.1.0.5", "-2.2.5e-9~4.0.25"], ["1.0.3"]]);
  assert.deepEqual(withKinds({ ...whole, heat: 1 }, [2, -1, 0, 1]).mode, START.mode);
});
