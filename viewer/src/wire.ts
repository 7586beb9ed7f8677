// A frame of the server, or of the same code as WASM: cells, states, events and arrows of a window as columns of numbers.
// The bytes are looked at, not copied. Whatever does not fit its own header is an error that names the place.

/** `LTV1` read as a little-endian u32. */
const MAGIC = 0x3156_544c;
const HEADER = 64;
const SECTION = 16;

/** Frame flags. */
export const EXACT = 1;
export const COARSE = 2;
export const STATES = 4;
export const ARROWS_CUT = 8;
export const FROM_INDEX = 16;

/** Arrow flags. */
export const BACKWARD = 1;
export const BUNDLE = 2;

/** Category numbers of cells: 0 nothing, k + 1 kind k. */
export type Plane = Uint8Array | Uint16Array;

/** Row-major planes, `columns × rows` each; those that the frame does not have are null. */
export interface Cells {
  category: Plane | null;
  /** Share of the cell × 255. */
  busy: Uint8Array | null;
  /** Difference of the busy share between the lines of a row. */
  spread: Uint8Array | null;
  /** 0 none, else 1 + log2 of their number. */
  events: Uint8Array | null;
  hits: Uint8Array | null;
  /** Second and third category of a stacked cell, with the shares of the first three. */
  second: Plane | null;
  third: Plane | null;
  share1: Uint8Array | null;
  share2: Uint8Array | null;
  share3: Uint8Array | null;
}

export interface States {
  /** Seconds after the frame's t0. */
  start: Float32Array;
  duration: Float32Array;
  row: Uint32Array;
  kind: Uint16Array;
  depth: Uint16Array;
}

export interface Events {
  time: Float32Array;
  row: Uint32Array;
  kind: Uint16Array;
}

export interface Arrows {
  from: Float32Array;
  to: Float32Array;
  rowFrom: Uint32Array;
  rowTo: Uint32Array;
  kind: Uint16Array;
  flags: Uint16Array;
  /** Of bundles: how many arrows, how many bytes. */
  count: Uint32Array | null;
  bytes: Float32Array | null;
}

export interface Frame {
  columns: number;
  rows: number;
  flags: number;
  seq: number;
  /** The layout position of the first row. */
  y0: number;
  /** Seconds. */
  t0: number;
  t1: number;
  /** How many drawables lie in the window, drawn or not. */
  drawables: number;
  /** How many arrows were found of those that are asked for, given one by one or not. */
  found: number;
  cells: Cells;
  states: States | null;
  events: Events | null;
  arrows: Arrows | null;
}

/** Bytes that are no frame. */
export class WireError extends Error {}

interface Section {
  width: number;
  count: number;
  at: number;
}

/** Reads a frame. The columns point into the buffer. */
export function decode(buffer: ArrayBuffer): Frame {
  const length = buffer.byteLength;
  if (length < HEADER) throw new WireError(`frame of ${length} bytes, its header has ${HEADER}`);
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== MAGIC) throw new WireError("frame does not begin with LTV1");
  const kind = view.getUint32(4, true);
  if (kind !== 1) throw new WireError(`frame of kind ${kind}, expected 1, a picture`);
  const columns = view.getUint32(8, true);
  const rows = view.getUint32(12, true);
  const number = view.getUint32(16, true);
  const sections = table(view, number, length);

  const u8 = (id: number): Uint8Array | null => {
    const section = cells(sections, id, columns * rows);
    return section && new Uint8Array(buffer, section.at, section.count);
  };
  const plane = (id: number): Plane | null => {
    const section = cells(sections, id, columns * rows);
    if (!section) return null;
    if (section.width === 2) return new Uint16Array(buffer, section.at, section.count);
    return new Uint8Array(buffer, section.at, section.count);
  };
  return {
    columns,
    rows,
    flags: view.getUint32(20, true),
    seq: view.getUint32(24, true),
    y0: view.getUint32(28, true),
    t0: view.getFloat64(32, true),
    t1: view.getFloat64(40, true),
    drawables: Number(view.getBigUint64(48, true)),
    found: Number(view.getBigUint64(56, true)),
    cells: {
      category: plane(1),
      busy: u8(2),
      spread: u8(3),
      events: u8(4),
      hits: u8(5),
      second: plane(6),
      share2: u8(7),
      third: plane(8),
      share3: u8(9),
      share1: u8(10),
    },
    states: states(buffer, sections),
    events: events(buffer, sections),
    arrows: arrows(buffer, sections),
  };
}

function table(view: DataView, number: number, length: number): Map<number, Section> {
  if (number > (length - HEADER) / SECTION) {
    throw new WireError(`frame says ${number} sections and has ${length} bytes`);
  }
  const sections = new Map<number, Section>();
  let at = HEADER + number * SECTION;
  for (let nth = 0; nth < number; nth++) {
    const entry = HEADER + nth * SECTION;
    const id = view.getUint32(entry, true);
    const width = view.getUint32(entry + 4, true);
    const count = Number(view.getBigUint64(entry + 8, true));
    at = Math.ceil(at / 8) * 8;
    if (count > 0 && at + width * count > length) {
      throw new WireError(`section ${id} at ${at} has ${count} × ${width} bytes, frame ends at ${length}`);
    }
    sections.set(id, { width, count, at: Math.min(at, Math.floor(length / 8) * 8) });
    at += width * count;
  }
  return sections;
}

function cells(sections: Map<number, Section>, id: number, expected: number): Section | null {
  const section = sections.get(id);
  if (!section) return null;
  if (section.count !== expected) {
    throw new WireError(`plane ${id} has ${section.count} cells, expected ${expected}`);
  }
  const widths = id === 1 || id === 6 || id === 8 ? [1, 2] : [1];
  if (!widths.includes(section.width)) throw new WireError(`plane ${id} has cells of ${section.width} bytes`);
  return section;
}

/** Columns of one table: all there and equally long, or the table is absent. */
class Columns {
  readonly count: number;

  constructor(
    readonly buffer: ArrayBuffer,
    readonly sections: Map<number, Section>,
    first: number,
  ) {
    this.count = sections.get(first)?.count ?? -1;
  }

  private at(id: number, width: number): number {
    const section = this.sections.get(id);
    if (!section) throw new WireError(`column ${id} is missing`);
    if (section.width !== width) throw new WireError(`column ${id} has elements of ${section.width} bytes, expected ${width}`);
    if (section.count !== this.count) throw new WireError(`column ${id} has ${section.count} elements, expected ${this.count}`);
    return section.at;
  }

  f32 = (id: number) => new Float32Array(this.buffer, this.at(id, 4), this.count);
  u32 = (id: number) => new Uint32Array(this.buffer, this.at(id, 4), this.count);
  u16 = (id: number) => new Uint16Array(this.buffer, this.at(id, 2), this.count);
}

function states(buffer: ArrayBuffer, sections: Map<number, Section>): States | null {
  const columns = new Columns(buffer, sections, 20);
  if (columns.count < 0) return null;
  return {
    start: columns.f32(20),
    duration: columns.f32(21),
    row: columns.u32(22),
    kind: columns.u16(23),
    depth: columns.u16(24),
  };
}

function events(buffer: ArrayBuffer, sections: Map<number, Section>): Events | null {
  const columns = new Columns(buffer, sections, 30);
  if (columns.count < 0) return null;
  return { time: columns.f32(30), row: columns.u32(31), kind: columns.u16(32) };
}

function arrows(buffer: ArrayBuffer, sections: Map<number, Section>): Arrows | null {
  const columns = new Columns(buffer, sections, 40);
  if (columns.count < 0) return null;
  return {
    from: columns.f32(40),
    to: columns.f32(41),
    rowFrom: columns.u32(42),
    rowTo: columns.u32(43),
    kind: columns.u16(44),
    flags: columns.u16(45),
    count: sections.has(46) ? columns.u32(46) : null,
    bytes: sections.has(47) ? columns.f32(47) : null,
  };
}

/** A frame's bytes, for tests and for what the page makes up itself. Only what is given is written. */
export function encode(frame: Frame): ArrayBuffer {
  const { cells, states, events, arrows } = frame;
  const listed: [number, ArrayBufferView & { length: number; BYTES_PER_ELEMENT: number } | null | undefined][] = [
    [1, cells.category], [2, cells.busy], [3, cells.spread], [4, cells.events], [5, cells.hits],
    [6, cells.second], [7, cells.share2], [8, cells.third], [9, cells.share3], [10, cells.share1],
    [20, states?.start], [21, states?.duration], [22, states?.row], [23, states?.kind], [24, states?.depth],
    [30, events?.time], [31, events?.row], [32, events?.kind],
    [40, arrows?.from], [41, arrows?.to], [42, arrows?.rowFrom], [43, arrows?.rowTo], [44, arrows?.kind],
    [45, arrows?.flags], [46, arrows?.count], [47, arrows?.bytes],
  ];
  const sections = listed.flatMap(([id, column]) => (column ? [{ id, column }] : []));
  let end = HEADER + sections.length * SECTION;
  const places = sections.map(({ column }) => {
    const at = Math.ceil(end / 8) * 8;
    end = at + column.byteLength;
    return at;
  });
  const buffer = new ArrayBuffer(end);
  const view = new DataView(buffer);
  const head = [MAGIC, 1, frame.columns, frame.rows, sections.length, frame.flags, frame.seq, frame.y0];
  for (const [nth, value] of head.entries()) view.setUint32(nth * 4, value, true);
  view.setFloat64(32, frame.t0, true);
  view.setFloat64(40, frame.t1, true);
  view.setBigUint64(48, BigInt(frame.drawables), true);
  view.setBigUint64(56, BigInt(frame.found), true);
  sections.forEach(({ id, column }, nth) => {
    const entry = HEADER + nth * SECTION;
    view.setUint32(entry, id, true);
    view.setUint32(entry + 4, column.BYTES_PER_ELEMENT, true);
    view.setBigUint64(entry + 8, BigInt(column.length), true);
    new Uint8Array(buffer, places[nth], column.byteLength).set(
      new Uint8Array(column.buffer, column.byteOffset, column.byteLength),
    );
  });
  return buffer;
}

/** A frame without planes and columns. */
export function blank(columns: number, rows: number, t0: number, t1: number): Frame {
  return {
    columns, rows, flags: EXACT, seq: 0, y0: 0, t0, t1, drawables: 0, found: 0,
    cells: {
      category: null, busy: null, spread: null, events: null, hits: null,
      second: null, third: null, share1: null, share2: null, share3: null,
    },
    states: null, events: null, arrows: null,
  };
}
