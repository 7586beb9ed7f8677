// A frame of the server, or of the same code as WASM: cells, states, events and arrows of a window as columns of numbers.
// The bytes are looked at, not copied. Whatever does not fit its own header is an error that names the place.

import {
  ARROW_SECTIONS, BUSY_SECTION, CATEGORY_SECTION, DEVIATION_SECTION, EVENTS_SECTION, EXACT, FRAME_HEADER_BYTES, FRAME_MAGIC, HITS_SECTION,
  POINT_SECTIONS, STACK_SECTIONS, STATE_SECTIONS, WAIT_SECTIONS,
} from "./answers";

/** Bytes of the entry of a section. */
const SECTION_BYTES = 16;
const [SECOND, SHARE_2, THIRD, SHARE_3, SHARE_1] = STACK_SECTIONS;

/** Category numbers of cells: 0 nothing, k + 1 kind k. */
export type CellChannel = Uint8Array | Uint16Array;

/** Row-major channels, `columns × timelines` each; those that the frame does not have are null. */
export interface FrameCells {
  category: CellChannel | null;
  /** Share of the cell × 255. */
  busy: Uint8Array | null;
  /** Difference of the busy share between the lines of a timeline. */
  deviation: Uint8Array | null;
  /** 0 none, else 1 + log2 of their number. */
  events: Uint8Array | null;
  hits: Uint8Array | null;
  /** Second and third category of a stacked cell, with the shares of the first three. */
  second: CellChannel | null;
  third: CellChannel | null;
  share1: Uint8Array | null;
  share2: Uint8Array | null;
  share3: Uint8Array | null;
}

export interface FrameStates {
  /** Seconds after the frame's t0. */
  start: Float32Array;
  duration: Float32Array;
  timeline: Uint32Array;
  kind: Uint16Array;
  depth: Uint16Array;
}

/** Waits of states, in the order of the states; a state has none, one or several. */
export interface FrameWaits {
  /** Number of the state. */
  state: Uint32Array;
  /** Seconds after the frame's t0. */
  begin: Float32Array;
  duration: Float32Array;
}

export interface FrameEvents {
  time: Float32Array;
  timeline: Uint32Array;
  kind: Uint16Array;
}

export interface FrameArrows {
  from: Float32Array;
  to: Float32Array;
  timelineFrom: Uint32Array;
  timelineTo: Uint32Array;
  kind: Uint16Array;
  flags: Uint16Array;
  /** Bundles only: how many arrows, how many bytes. */
  count: Uint32Array | null;
  bytes: Float32Array | null;
}

export interface Frame {
  columns: number;
  timelines: number;
  flags: number;
  seq: number;
  /** The layout position of the first timeline. */
  y0: number;
  /** Seconds. */
  t0: number;
  t1: number;
  /** How many drawables lie in the window, drawn or not. */
  drawables: number;
  /** How many arrows were found of those that are asked for, given one by one or not. */
  found: number;
  cells: FrameCells;
  states: FrameStates | null;
  waits: FrameWaits | null;
  events: FrameEvents | null;
  arrows: FrameArrows | null;
}

/** Bytes that are no frame. */
export class FrameError extends Error {}

interface FrameSection {
  width: number;
  count: number;
  at: number;
}

/** Reads a frame. The columns point into the buffer. */
export function decode(buffer: ArrayBuffer): Frame {
  const length = buffer.byteLength;
  if (length < FRAME_HEADER_BYTES) throw new FrameError(`frame of ${length} bytes, its header has ${FRAME_HEADER_BYTES}`);
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== FRAME_MAGIC) throw new FrameError("frame does not begin with LTV1");
  const kind = view.getUint32(4, true);
  if (kind !== 1) throw new FrameError(`frame of kind ${kind}, expected 1, a picture`);
  const columns = view.getUint32(8, true);
  const timelines = view.getUint32(12, true);
  const number = view.getUint32(16, true);
  const sections = table(view, number, length);

  const u8 = (id: number): Uint8Array | null => {
    const section = cells(sections, id, columns * timelines);
    return section && new Uint8Array(buffer, section.at, section.count);
  };
  const channel = (id: number): CellChannel | null => {
    const section = cells(sections, id, columns * timelines);
    if (!section) return null;
    if (section.width === 2) return new Uint16Array(buffer, section.at, section.count);
    return new Uint8Array(buffer, section.at, section.count);
  };
  return {
    columns,
    timelines,
    flags: view.getUint32(20, true),
    seq: view.getUint32(24, true),
    y0: view.getUint32(28, true),
    t0: view.getFloat64(32, true),
    t1: view.getFloat64(40, true),
    drawables: Number(view.getBigUint64(48, true)),
    found: Number(view.getBigUint64(56, true)),
    cells: {
      category: channel(CATEGORY_SECTION),
      busy: u8(BUSY_SECTION),
      deviation: u8(DEVIATION_SECTION),
      events: u8(EVENTS_SECTION),
      hits: u8(HITS_SECTION),
      second: channel(SECOND),
      share2: u8(SHARE_2),
      third: channel(THIRD),
      share3: u8(SHARE_3),
      share1: u8(SHARE_1),
    },
    states: states(buffer, sections),
    waits: waits(buffer, sections),
    events: events(buffer, sections),
    arrows: arrows(buffer, sections),
  };
}

function table(view: DataView, number: number, length: number): Map<number, FrameSection> {
  if (number > (length - FRAME_HEADER_BYTES) / SECTION_BYTES) {
    throw new FrameError(`frame says ${number} sections and has ${length} bytes`);
  }
  const sections = new Map<number, FrameSection>();
  let at = FRAME_HEADER_BYTES + number * SECTION_BYTES;
  for (let nth = 0; nth < number; nth++) {
    const entry = FRAME_HEADER_BYTES + nth * SECTION_BYTES;
    const id = view.getUint32(entry, true);
    const width = view.getUint32(entry + 4, true);
    const count = Number(view.getBigUint64(entry + 8, true));
    at = Math.ceil(at / 8) * 8;
    if (count > 0 && at + width * count > length) {
      throw new FrameError(`section ${id} at ${at} has ${count} × ${width} bytes, frame ends at ${length}`);
    }
    sections.set(id, { width, count, at: Math.min(at, Math.floor(length / 8) * 8) });
    at += width * count;
  }
  return sections;
}

function cells(sections: Map<number, FrameSection>, id: number, expected: number): FrameSection | null {
  const section = sections.get(id);
  if (!section) return null;
  if (section.count !== expected) {
    throw new FrameError(`channel ${id} has ${section.count} cells, expected ${expected}`);
  }
  const widths = id === CATEGORY_SECTION || id === SECOND || id === THIRD ? [1, 2] : [1];
  if (!widths.includes(section.width)) throw new FrameError(`channel ${id} has cells of ${section.width} bytes`);
  return section;
}

/** FrameColumns of one table: all there and equally long, or the table is absent. */
class FrameColumns {
  readonly count: number;

  constructor(
    readonly buffer: ArrayBuffer,
    readonly sections: Map<number, FrameSection>,
    first: number,
  ) {
    this.count = sections.get(first)?.count ?? -1;
  }

  private at(id: number, width: number): number {
    const section = this.sections.get(id);
    if (!section) throw new FrameError(`column ${id} is missing`);
    if (section.width !== width) throw new FrameError(`column ${id} has elements of ${section.width} bytes, expected ${width}`);
    if (section.count !== this.count) throw new FrameError(`column ${id} has ${section.count} elements, expected ${this.count}`);
    return section.at;
  }

  f32 = (id: number) => new Float32Array(this.buffer, this.at(id, 4), this.count);
  u32 = (id: number) => new Uint32Array(this.buffer, this.at(id, 4), this.count);
  u16 = (id: number) => new Uint16Array(this.buffer, this.at(id, 2), this.count);
}

function states(buffer: ArrayBuffer, sections: Map<number, FrameSection>): FrameStates | null {
  const columns = new FrameColumns(buffer, sections, STATE_SECTIONS[0]);
  if (columns.count < 0) return null;
  return {
    start: columns.f32(STATE_SECTIONS[0]),
    duration: columns.f32(STATE_SECTIONS[1]),
    timeline: columns.u32(STATE_SECTIONS[2]),
    kind: columns.u16(STATE_SECTIONS[3]),
    depth: columns.u16(STATE_SECTIONS[4]),
  };
}

function waits(buffer: ArrayBuffer, sections: Map<number, FrameSection>): FrameWaits | null {
  const columns = new FrameColumns(buffer, sections, WAIT_SECTIONS[0]);
  if (columns.count < 0) return null;
  return { state: columns.u32(WAIT_SECTIONS[0]), begin: columns.f32(WAIT_SECTIONS[1]), duration: columns.f32(WAIT_SECTIONS[2]) };
}

function events(buffer: ArrayBuffer, sections: Map<number, FrameSection>): FrameEvents | null {
  const columns = new FrameColumns(buffer, sections, POINT_SECTIONS[0]);
  if (columns.count < 0) return null;
  return { time: columns.f32(POINT_SECTIONS[0]), timeline: columns.u32(POINT_SECTIONS[1]), kind: columns.u16(POINT_SECTIONS[2]) };
}

function arrows(buffer: ArrayBuffer, sections: Map<number, FrameSection>): FrameArrows | null {
  const columns = new FrameColumns(buffer, sections, ARROW_SECTIONS[0]);
  if (columns.count < 0) return null;
  return {
    from: columns.f32(ARROW_SECTIONS[0]),
    to: columns.f32(ARROW_SECTIONS[1]),
    timelineFrom: columns.u32(ARROW_SECTIONS[2]),
    timelineTo: columns.u32(ARROW_SECTIONS[3]),
    kind: columns.u16(ARROW_SECTIONS[4]),
    flags: columns.u16(ARROW_SECTIONS[5]),
    count: sections.has(ARROW_SECTIONS[6]) ? columns.u32(ARROW_SECTIONS[6]) : null,
    bytes: sections.has(ARROW_SECTIONS[7]) ? columns.f32(ARROW_SECTIONS[7]) : null,
  };
}

/** A frame's bytes, for tests and for what the page makes up itself. Only what is given is written. */
export function encode(frame: Frame): ArrayBuffer {
  const { cells, states, waits, events, arrows } = frame;
  const listed: [number, ArrayBufferView & { length: number; BYTES_PER_ELEMENT: number } | null | undefined][] = [
    [CATEGORY_SECTION, cells.category], [BUSY_SECTION, cells.busy], [DEVIATION_SECTION, cells.deviation], [EVENTS_SECTION, cells.events], [HITS_SECTION, cells.hits],
    [SECOND, cells.second], [SHARE_2, cells.share2], [THIRD, cells.third], [SHARE_3, cells.share3], [SHARE_1, cells.share1],
    [STATE_SECTIONS[0], states?.start], [STATE_SECTIONS[1], states?.duration], [STATE_SECTIONS[2], states?.timeline], [STATE_SECTIONS[3], states?.kind], [STATE_SECTIONS[4], states?.depth],
    [WAIT_SECTIONS[0], waits?.state], [WAIT_SECTIONS[1], waits?.begin], [WAIT_SECTIONS[2], waits?.duration],
    [POINT_SECTIONS[0], events?.time], [POINT_SECTIONS[1], events?.timeline], [POINT_SECTIONS[2], events?.kind],
    [ARROW_SECTIONS[0], arrows?.from], [ARROW_SECTIONS[1], arrows?.to], [ARROW_SECTIONS[2], arrows?.timelineFrom], [ARROW_SECTIONS[3], arrows?.timelineTo], [ARROW_SECTIONS[4], arrows?.kind],
    [ARROW_SECTIONS[5], arrows?.flags], [ARROW_SECTIONS[6], arrows?.count], [ARROW_SECTIONS[7], arrows?.bytes],
  ];
  const sections = listed.flatMap(([id, column]) => (column ? [{ id, column }] : []));
  let end = FRAME_HEADER_BYTES + sections.length * SECTION_BYTES;
  const places = sections.map(({ column }) => {
    const at = Math.ceil(end / 8) * 8;
    end = at + column.byteLength;
    return at;
  });
  const buffer = new ArrayBuffer(end);
  const view = new DataView(buffer);
  const head = [FRAME_MAGIC, 1, frame.columns, frame.timelines, sections.length, frame.flags, frame.seq, frame.y0];
  for (const [nth, value] of head.entries()) view.setUint32(nth * 4, value, true);
  view.setFloat64(32, frame.t0, true);
  view.setFloat64(40, frame.t1, true);
  view.setBigUint64(48, BigInt(frame.drawables), true);
  view.setBigUint64(56, BigInt(frame.found), true);
  sections.forEach(({ id, column }, nth) => {
    const entry = FRAME_HEADER_BYTES + nth * SECTION_BYTES;
    view.setUint32(entry, id, true);
    view.setUint32(entry + 4, column.BYTES_PER_ELEMENT, true);
    view.setBigUint64(entry + 8, BigInt(column.length), true);
    new Uint8Array(buffer, places[nth], column.byteLength).set(
      new Uint8Array(column.buffer, column.byteOffset, column.byteLength),
    );
  });
  return buffer;
}

/** A frame without channels and columns. */
export function blank(columns: number, timelines: number, t0: number, t1: number): Frame {
  return {
    columns, timelines, flags: EXACT, seq: 0, y0: 0, t0, t1, drawables: 0, found: 0,
    cells: {
      category: null, busy: null, deviation: null, events: null, hits: null,
      second: null, third: null, share1: null, share2: null, share3: null,
    },
    states: null, waits: null, events: null, arrows: null,
  };
}
