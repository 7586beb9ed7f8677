// The timelines of the trace that is compared with the first one, below it. The same window is shown of both, counted from the begin of each.

import { untracked, useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { duration } from "../axis";
import { other, otherMeta, otherTimelines } from "../compare";
import { seen, yOf } from "../geometry";
import { change, START, view } from "../state";
import { NO_OTHER } from "../url";
import { labelled, LETTERS } from "./labels";
import { LowerCanvas } from "./LowerCanvas";
import { LOWER_RULER } from "./lowerStage";
import { otherArea, otherExtent, otherTrace, otherWindow } from "./otherStage";
import { short } from "./Tooltip";

export function Other() {
  const number = other.value;
  return number === null ? null : <OtherTimeline key={number} number={number} />;
}

/** Shows the other trace alone, or first, as far as that can be taken over. */
function toFirst(number: number): void {
  const { theme, palette, trace, panel } = view.peek();
  const { t0, t1 } = otherWindow();
  change({ ...START, theme, palette, panel, t0, t1, trace: number, other: trace });
}

function OtherTimeline({ number }: { number: number }) {
  const of = useMemo(() => otherTrace(number), [number]);
  const about = otherMeta.value;
  const name = short(about?.name ?? "…", 60);
  return (
    <section class="timeline lower" aria-label={`Compared with ${name}`}>
      <div class="lower-head">
        <b>{name}</b> {about ? duration(about.t1 - about.t0) : ""} <span class="faint">from its begin, as the trace above</span>
        <button type="button" title="This trace above, the other one below" onClick={() => toFirst(number)}>swap</button>
        <button type="button" title="Only the trace above" onClick={() => change({ other: NO_OTHER })}>close</button>
      </div>
      <div class="timeline-body">
        <OtherLabels />
        <LowerCanvas of={of} id="other" area={otherArea} label={`Timelines of ${name} in the same window. Keys move both; swap makes it the one that is told.`} />
      </div>
    </section>
  );
}

function OtherLabels() {
  // What decides where they are: a movement in time changes none of it.
  const shape = useComputed(() => {
    const { top, timelineHeight } = otherWindow();
    return `${top}/${timelineHeight}`;
  });
  void [shape.value, otherArea.value];
  const timelines = otherTimelines.value;
  const [window, all] = untracked(() => [otherWindow(), otherExtent()] as const);
  const [first, last] = seen(window, all);
  return (
    <div class="labels">
      <div style={{ height: `${LOWER_RULER}px`, flex: "none" }} />
      <div class="labels-field">
        {!timelines ? null : labelled(first, last, window.timelineHeight, timelines.open).map((timeline) => {
          const high = Math.max(window.timelineHeight, LETTERS);
          const top = yOf(timeline, window, all) + Math.min(0, (window.timelineHeight - LETTERS) / 2);
          return (
            <div key={timeline} class="label" style={{ top: `${top}px`, height: `${high}px`, paddingLeft: `${20 + 10 * (timelines.depth[timeline] ?? 0)}px` }}>
              <span class="label-name">{short(timelines.label[timeline] ?? "", 200)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
