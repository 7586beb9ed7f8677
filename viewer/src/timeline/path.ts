// The critical path as a line through the timelines: along the middle of each, and over to the next where that one was waited for.

import type { PathAnswer } from "../answers";
import { css } from "../color";
import { heightOf, pinnedHeight, xOf, yOf, type Extent, type View } from "../geometry";
import type { Palette } from "../palette";

/** A corner of the line; it begins anew at one that is not drawn to. */
export interface Corner {
  x: number;
  y: number;
  isDrawn: boolean;
}

/** The corners of the line. Where the path is on a timeline that is not shown there is a gap. */
export function cornersOf(path: PathAnswer, view: View, extent: Extent): Corner[] {
  const corners: Corner[] = [];
  const split = pinnedHeight(view, extent);
  let isAfterGap = true;
  path.timeline.forEach((timeline, nth) => {
    const [x0, x1] = [xOf(path.from[nth] ?? 0, view, extent), xOf(path.to[nth] ?? 0, view, extent)];
    if (timeline < 0 || timeline >= extent.timelines || x1 < -9 || x0 > extent.width + 9) {
      isAfterGap = true;
      return;
    }
    const middle = yOf(timeline, view, extent) + heightOf(timeline, view, extent) / 2;
    // A timeline that is scrolled away behind the pinned ones: the line goes there, not along it.
    const isBehind = timeline >= extent.pinned && middle < split;
    const y = isBehind ? split : middle;
    const [left, right] = [Math.max(-9, x0), Math.min(extent.width + 9, x1)];
    corners.push({ x: left, y, isDrawn: !isAfterGap }, { x: right, y, isDrawn: !isBehind });
    isAfterGap = false;
  });
  return corners;
}

export function drawPath(context: CanvasRenderingContext2D, path: PathAnswer, view: View, extent: Extent, palette: Palette): void {
  const line = new Path2D();
  for (const { x, y, isDrawn } of cornersOf(path, view, extent)) {
    if (isDrawn) line.lineTo(x, y);
    else line.moveTo(x, y);
  }
  context.lineJoin = "round";
  context.lineCap = "round";
  // Set off from whatever colour is below.
  for (const [color, width] of [[palette.theme.ground, 5], [palette.theme.path, 2.5]] as const) {
    context.strokeStyle = css(color);
    context.lineWidth = width;
    context.stroke(line);
  }
  context.lineCap = "butt";
}
