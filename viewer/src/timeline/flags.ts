// Notes on the picture: a stalk at their time, and the text in a flag at the upper edge of their timeline.

import { css } from "../color";
import { heightOf, pinnedHeight, xOf, yOf, type Extent, type View } from "../geometry";
import type { Palette } from "../palette";
import { textWidth } from "./letters";

/** A note with its timeline. */
export interface Flag {
  t: number;
  timeline: number;
  text: string;
}

const HEIGHT = 16;
/** Letters of a note that are drawn; the panel has all of them. */
const MOST_LETTERS = 48;

export function drawFlags(context: CanvasRenderingContext2D, flags: readonly Flag[], view: View, extent: Extent, { theme }: Palette): void {
  const split = pinnedHeight(view, extent);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const { t, timeline, text } of flags) {
    const x = xOf(t, view, extent);
    const y = yOf(timeline, view, extent);
    const isBehind = timeline >= extent.pinned && y + view.timelineHeight / 2 < split;
    if (x < -1 || x > extent.width + 1 || y > extent.height - 4 || isBehind) continue;
    const shown = text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
    const width = textWidth(context, shown) + 10;
    const left = Math.max(0, Math.min(x, extent.width - width));
    context.fillStyle = css(theme.hit);
    context.fillRect(Math.round(x) - 1, y, 2, Math.max(HEIGHT, heightOf(timeline, view, extent)));
    if (shown === "") continue;
    context.fillStyle = css(theme.ground);
    context.beginPath();
    context.roundRect(left, y, width, HEIGHT, 3);
    context.fill();
    context.strokeStyle = css(theme.hit);
    context.lineWidth = 1;
    context.stroke();
    context.fillStyle = css(theme.text);
    context.fillText(shown, left + 5, y + HEIGHT / 2 + 0.5);
  }
  context.textBaseline = "alphabetic";
}
