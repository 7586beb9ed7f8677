// The window as geometry has it, out of what the page remembers.

import { computed } from "@preact/signals";
import { clamp, home, seen, type Extent, type View } from "../geometry";
import { area, bounds, layout, timelineCount, span, view } from "../state";

/** What there is, and the room for it. */
export const extent = computed<Extent>(() => ({
  t0: bounds.value?.t0 ?? 0,
  t1: bounds.value?.t1 ?? 1,
  timelines: timelineCount.value,
  pinned: layout.value?.pinned ?? 0,
  width: area.value.width,
  height: area.value.height,
}));

/** What is looked at. The time is as the page remembers it, timelines are kept within their bounds. */
export const now = computed<View>(() => {
  const { top, height } = view.value;
  const { t0, t1 } = span.value;
  const all = extent.value;
  const timelineHeight = height > 0 ? height : home(all).timelineHeight;
  const { top: bounded, timelineHeight: possible } = clamp({ t0, t1, top, timelineHeight }, all, 0.05);
  return { t0, t1, top: bounded, timelineHeight: possible };
});

/** Timelines [y0, y1) below the pinned ones that are at least partly on the screen. */
export const shownTimelines = computed(() => {
  const [y0, y1] = seen(now.value, extent.value);
  return { y0, y1: Math.max(y0, y1) };
});
