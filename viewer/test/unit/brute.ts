// A painter that looks at everything anew for each pixel: slow, and written from the rules in words, for comparison.

import { mix, pack, unpack } from "../../src/color";
import { patterned, SHADES, type Palette } from "../../src/palette";
import { shadeOf, type Shot } from "../../src/painter";
import type { Frame } from "../../src/frame";

/** One pixel by the rules in words, looking at everything anew each time. */
export function pixel(frame: Frame, colors: Palette, shot: Shot, x: number, y: number): number {
  const { unit } = shot;
  let timeline = -1;
  for (let nth = 0; nth < frame.timelines; nth++) {
    if (y >= Math.round(nth * shot.timelineHeight) && y < Math.round((nth + 1) * shot.timelineHeight)) timeline = nth;
  }
  if (timeline < 0) return pack(colors.theme.ground);
  const top = Math.round(timeline * shot.timelineHeight);
  const bottom = Math.min(Math.round((timeline + 1) * shot.timelineHeight), shot.height);
  const boxed = (depth: number): [number, number] => {
    const whole = bottom - top;
    const height = whole < 4 ? whole : Math.max(2, Math.round(whole * 0.9 * 0.8 ** depth));
    const from = top + (whole < 4 ? 0 : Math.floor((whole - height) / 2));
    return [from, from + height];
  };
  const [from, to] = boxed(0);
  const inside = y >= from && y < to;
  const close = frame.states !== null && shot.timelineHeight >= 6 * unit && ["dominant", "rare"].includes(shot.mode);
  const merged = shot.merged(timeline + frame.y0);
  let word = pack(inside ? colors.theme.timeline : colors.theme.ground);
  if (inside && (!close || merged)) {
    const cell = timeline * frame.columns + Math.floor((x * frame.columns) / shot.width);
    const at = (channel: ArrayLike<number> | null) => channel?.[cell] ?? 0;
    const { category, busy, deviation, events, second, third, share1, share2, share3 } = frame.cells;
    const shade = shadeOf(at(busy));
    word = (shot.mode === "heat" ? colors.heat[shade] : colors.shades[at(category) * SHADES + shade]) ?? 0;
    if (["stack", "dominant"].includes(shot.mode) && share1 && to - from >= 24 * 0.9 * unit) {
      word = pack(colors.theme.timeline);
      let sum = 0;
      let found = false;
      for (const [kinds, shares] of [[category, share1], [second, share2], [third, share3]] as const) {
        if (at(kinds) === 0) continue;
        sum = Math.min(255, sum + at(shares));
        if (!found && y >= to - Math.round(((to - from) * sum) / 255)) {
          word = colors.shades[at(kinds) * SHADES + SHADES - 1] ?? 0;
          found = true;
        }
      }
    }
    if (to - from >= 3 && at(deviation) >= 48 && patterned(2, x, y, unit)) {
      word = pack(mix(unpack(word), colors.theme.text, 0.15 + 0.35 * (at(deviation) / 255)));
    }
    const small = to - from < 6 * unit;
    if (at(events) && !small && y < from + 2 * unit) word = pack(colors.theme.text);
  }
  const { hits } = frame.cells;
  const high = to - from < 6 * unit ? to - from : Math.max(Math.round(4 * unit), Math.round((to - from) * 0.3));
  if (hits && inside && y >= to - high) {
    const isNear = (reach: number) => {
      for (let near = Math.max(0, x - reach); near <= Math.min(shot.width - 1, x + reach); near++) {
        if (hits[timeline * frame.columns + Math.floor((near * frame.columns) / shot.width)]) return true;
      }
      return false;
    };
    if (isNear(Math.floor(unit))) return pack(colors.theme.hit);
    if (isNear(2 * Math.floor(unit))) return pack(colors.theme.ground);
  }
  if (!close || merged || !frame.states) return word;
  const { start, duration, timeline: timelines, kind, depth } = frame.states;
  const scale = shot.width / (frame.t1 - frame.t0);
  const deepest = depth.reduce((most, value) => Math.max(most, value), 0);
  for (let level = 0; level <= deepest; level++) {
    start.forEach((begin, nth) => {
      if (depth[nth] !== level || timelines[nth] !== timeline + frame.y0) return;
      const [upper, lower] = boxed(level);
      if (y < upper || y >= Math.min(lower, bottom)) return;
      const look = kind[nth] ?? 0;
      const fill = colors.fill[look] ?? 0;
      const [x0, x1] = [begin * scale, (begin + (duration[nth] ?? 0)) * scale];
      const [left, right] = [Math.max(0, Math.round(x0)), Math.min(shot.width, Math.round(x1))];
      if (right <= left) {
        if (x === Math.floor((x0 + x1) / 2)) word = pack(mix(unpack(word), fill, Math.min(1, Math.max(0.3, x1 - x0))));
        return;
      }
      if (x < left || x >= right) return;
      word = pack(fill);
      const roomy = lower - upper >= 5 * unit;
      const pattern = colors.pattern[look] ?? 0;
      const hatched = pattern > 0 && roomy && x1 - x0 >= 3 * unit;
      if (hatched && patterned(pattern, x, y, unit)) word = pack(mix(fill, colors.ink[look] ?? 0, 0.45));
      frame.waits?.state.forEach((of, wait) => {
        const [a, b] = [frame.waits!.begin[wait]! * scale, (frame.waits!.begin[wait]! + frame.waits!.duration[wait]!) * scale];
        if (of !== nth || !roomy || x < Math.round(a) || x >= Math.round(b)) return;
        word = pack((b - a < 4 * unit || (Math.floor(x / unit) + Math.floor(y / unit)) % 6 < 2 ? colors.hatch[look] : colors.hatched[look]) ?? 0);
      });
      if (!roomy || x1 - x0 < 7 * unit) return;
      const thick = Math.max(1, Math.round(unit));
      const edge = (x0 >= 0 && x < left + thick) || (Math.round(x1) <= shot.width && x >= right - thick)
        || y < upper + thick || y >= Math.min(lower, bottom) - thick;
      if (edge) word = pack(colors.edge[look] ?? 0);
    });
  }
  return word;
}
