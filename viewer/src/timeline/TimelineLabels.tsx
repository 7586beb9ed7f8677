// The labels of the timelines beside the picture: a tree that opens and shuts, pins, hides, and lets timelines be dragged to another
// place. Only what can be seen is in the page, however many timelines there are.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { hideTimeline, openTimeline, pinTimeline, renameTimeline, setTimelines, toggleFull } from "../actions";
import { askShared, question } from "../api";
import type { TimelinesAnswer } from "../answers";
import { heightOf, pinnedHeight, timelineAt, scrollTimelines, seen, yOf } from "../geometry";
import { item, keysOf, listOf, withItem, type ItemName } from "../spec";
import { openDialog } from "../modal";
import { withGroupMoved } from "../groups";
import { NameField, percent } from "../panels/parts";
import {
  change, cursor, layout, meta, rename, renaming, rested, sharesOfRanks, timelineCount, timelineName, serverTimelines, view,
} from "../state";
import { focusTimelines } from "./focus";
import { labelled, labelPlace, LETTERS } from "./labels";
import { extent, now } from "./now";
import { orderAfter } from "./order";
import { short } from "./Tooltip";
import { ownTracks, TrackLabels } from "./Tracks";

export function TimelineLabels({ rulerHeight }: { rulerHeight: number }) {
  const field = useRef<HTMLDivElement>(null);
  const drag = useRef<{ timeline: number; y: number; moved: boolean } | null>(null);
  const drop = useSignal<number | null>(null);
  // What decides which labels there are: a movement in time changes none of it.
  const shape = useComputed(() => {
    const { top, timelineHeight } = now.value;
    return `${top}/${timelineHeight}`;
  });
  void shape.value;
  const timelines = layout.value;
  const [window, all] = [now.peek(), extent.value];
  const [first, last] = seen(window, all);
  const [open, thread] = [timelines?.open ?? [], timelines?.thread ?? []];
  const visible = [...labelled(0, all.pinned, heightOf(0, window, all), open, thread), ...labelled(first, last, window.timelineHeight, open, thread)];
  const split = pinnedHeight(window, all);

  useEffect(() => {
    const element = field.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const scale = event.deltaMode === 1 ? 33 : 1;
      change({ top: scrollTimelines(now.peek(), extent.peek(), event.deltaY * scale).top }, "timelines");
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, []);

  const timelineOf = (event: PointerEvent): number => {
    const frame = field.current?.getBoundingClientRect();
    return frame ? timelineAt(event.clientY - frame.top, now.peek(), extent.peek()) : -1;
  };
  const dropped = (from: number, to: number) => {
    const found = layout.peek();
    const key = found?.key[from];
    if (!found || !key || from === to) return;
    const spec = view.peek().timelines;
    const isPinned = from < found.pinned;
    // Own groups stand in the order in which they are made. They may be shown under other names.
    const nameOf = (timeline: number) => serverTimelines.peek()?.label[timeline] ?? null;
    const moved = isPinned ? spec : withGroupMoved(spec, nameOf(from) ?? "", nameOf(to));
    if (moved !== spec) return setTimelines(moved);
    const name: ItemName = isPinned ? "pin" : "order";
    const upTo = isPinned ? [0, found.pinned] : [found.pinned, found.count];
    const keys = found.key.slice(upTo[0], upTo[1]).filter((_, nth) => !found.open[nth + (upTo[0] ?? 0)]);
    const before = to < (upTo[1] ?? 0) ? (found.key[Math.max(to, upTo[0] ?? 0)] ?? null) : null;
    setTimelines(withItem(spec, name, listOf(orderAfter(keys, keysOf(item(spec, name)).length, key, before))));
  };

  return (
    <div class="labels">
      <div class="labels-head" style={{ height: `${rulerHeight}px` }}>
        <Filter />
        <Order />
      </div>
      <TrackLabels of={ownTracks} />
      <div
        ref={field}
        class="labels-field"
        role="tree"
        aria-label="Timelines"
        onPointerMove={(event) => {
          const held = drag.current;
          if (!held) return;
          if (Math.abs(event.clientY - held.y) > 5) held.moved = true;
          if (held.moved) {
            const to = timelineOf(event);
            drop.value = to < 0 ? timelineCount.peek() : to;
          }
        }}
        onPointerUp={() => {
          const [held, to] = [drag.current, drop.peek()];
          drag.current = null;
          drop.value = null;
          if (held?.moved && to !== null) dropped(held.timeline, to);
        }}
        onPointerCancel={() => {
          drag.current = null;
          drop.value = null;
        }}
        onDblClick={(event) => {
          const timeline = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>("[data-timeline]");
          if (timeline && !(event.target as Element).closest("button, input")) renameTimeline(Number(timeline.dataset["timeline"]));
        }}
      >
        {!timelines ? null : visible.map((timeline) => {
          const isGroup = timelines.group[timeline] ?? false;
          const isOpen = timelines.open[timeline] ?? false;
          const isPinned = timeline < timelines.pinned;
          const label = short(timelines.label[timeline] ?? "", 200);
          const path = [...(timelines.path[timeline] ?? []), timelines.label[timeline] ?? ""].map((part) => short(part)).join(" / ");
          const isCursor = cursor.value?.timeline === timeline;
          const own = heightOf(timeline, window, all);
          const place = labelPlace(yOf(timeline, window, all), own, isPinned, split, all.height);
          if (!place) return null;
          const lines = timelines.lines[timeline] ?? 1;
          return (
            <div
              key={`${isPinned ? "p" : ""}${timelines.key[timeline] ?? timeline}`}
              class={`label${isCursor ? " label-cursor" : ""}${isPinned ? " label-pinned" : ""}${isOpen ? " label-heading" : ""}`}
              role="treeitem"
              aria-level={(timelines.depth[timeline] ?? 0) + 1}
              aria-expanded={isGroup ? isOpen : undefined}
              aria-selected={isCursor}
              aria-label={isGroup && !isOpen ? `${label}, ${lines} lines` : label}
              data-timeline={timeline}
              title={path}
              style={{ top: `${place.top}px`, height: `${place.high}px`, paddingLeft: `${4 + (timelines.depth[timeline] ?? 0) * 12}px` }}
              onPointerDown={(event) => {
                if (event.button !== 0 || (event.target as Element).closest("button, input")) return;
                // A heading stands above what is below it, wherever that goes.
                if (!isOpen) {
                  drag.current = { timeline, y: event.clientY, moved: false };
                  event.currentTarget.parentElement?.setPointerCapture(event.pointerId);
                }
                cursor.value = { timeline, t: cursor.peek()?.t ?? (now.peek().t0 + now.peek().t1) / 2 };
              }}
            >
              {isGroup && (timelines.key[timeline] ?? "").startsWith("n") ? (
                <button
                  type="button"
                  class="label-twist"
                  tabIndex={-1}
                  aria-label={isOpen ? `Collapse ${label}` : `Expand ${label}`}
                  onClick={() => openTimeline(!isOpen, timeline)}
                >
                  {isOpen ? "▾" : "▸"}
                </button>
              ) : <span class="label-twist" />}
              {renaming.value === timeline ? (
                <NameField
                  label={`Another name for ${label}`} value={label} otherwise={serverTimelines.peek()?.label[timeline] ?? label}
                  onDone={(text) => {
                    renaming.value = null;
                    if (text !== null) rename(timelineName(timelines, timeline), text === serverTimelines.peek()?.label[timeline] ? "" : text);
                    focusTimelines();
                  }}
                />
              ) : <span class="label-name">{label}</span>}
              {isGroup && !isOpen ? <span class="label-count faint">{lines}</span> : null}
              {isOpen || own < LETTERS || !isMain(timelines, timeline) ? null : <Shares rank={timelines.rank[timeline] ?? -1} />}
              {isOpen || timelines.key[timeline] === "" ? null : (
                <span class="label-tools">
                  <button
                    type="button" tabIndex={-1} title={isPinned ? "Unpin (Shift+P)" : "Pin on top (Shift+P)"}
                    aria-label={`${isPinned ? "Unpin" : "Pin"} ${label}`} aria-pressed={isPinned} onClick={() => pinTimeline(timeline)}
                  >
                    {isPinned ? "★" : "☆"}
                  </button>
                  <button
                    type="button" tabIndex={-1} title="In full: its call depths under one another (Q)" aria-label={`${label} in full`}
                    aria-pressed={timelines.key[timeline] === view.value.full} onClick={() => toggleFull(timeline)}
                  >
                    ⤢
                  </button>
                  <button type="button" tabIndex={-1} title="Another name (F2)" aria-label={`Rename ${label}`} onClick={() => renameTimeline(timeline)}>✎</button>
                  <button type="button" tabIndex={-1} title="Hide this timeline" aria-label={`Hide ${label}`} onClick={() => hideTimeline(timeline)}>×</button>
                </span>
              )}
            </div>
          );
        })}
        {drop.value === null ? null : (
          <div class="label-drop" style={{ top: `${drop.value >= all.timelines ? yOf(all.timelines - 1, window, all) + heightOf(all.timelines - 1, window, all) : yOf(drop.value, window, all)}px` }} />
        )}
      </div>
    </div>
  );
}

/** Whether a timeline is the main one of a rank, or all of a rank, whose shares are told: other threads and asynchronous I/O beside them have none. */
function isMain(timelines: Pick<TimelinesAnswer, "thread">, timeline: number): boolean {
  return (timelines.thread[timeline] ?? -1) <= 0;
}

/** What a rank did in all, as a little bar: computing is empty, as in the picture. */
function Shares({ rank }: { rank: number }) {
  const found = rank < 0 ? undefined : sharesOfRanks.value.get(rank);
  if (!found) return null;
  const { computing, waiting, files } = found;
  const mpi = Math.max(0, 1 - computing - waiting - files);
  const text = [["computing", computing], ["waiting", waiting], ["other MPI", mpi], ["files", files]] as const;
  return (
    <span class="shares" title={text.filter(([, share]) => share >= 0.0005).map(([name, share]) => `${name} ${percent(share)}`).join(", ")}>
      {([["waiting", waiting], ["mpi", mpi], ["files", files]] as const).map(([name, share]) => <span key={name} class={`share-${name}`} style={{ width: `${100 * share}%` }} />)}
    </span>
  );
}

/** The filter of timelines: `0-63,!5,server*`. */
function Filter() {
  const wrong = useSignal("");
  const text = useSignal<string | null>(null);
  const apply = async (value: string) => {
    const { trace, timelines } = view.peek();
    const spec = withItem(timelines, "only", value.trim().replaceAll(";", " ") || null);
    if (spec === timelines) return;
    try {
      await askShared(trace, question("timelines", { timelines: spec }));
      // Timelines that have been chosen since are not taken back, and those of another trace are others.
      if (view.peek().trace !== trace || view.peek().timelines !== timelines) return;
      wrong.value = "";
      text.value = null;
      setTimelines(spec, { top: 0, height: 0 });
    } catch (error) {
      wrong.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <input
      class={`labels-filter${wrong.value === "" ? "" : " wrong"}`}
      type="search"
      placeholder="only 0-63,!5"
      aria-label="Timelines that are shown, such as 0-63,!5 or a name with *"
      aria-invalid={wrong.value !== ""}
      title={wrong.value || "Timelines that are shown: 0-63,!5 or a name with *"}
      value={text.value ?? item(rested.value.timelines, "only") ?? ""}
      onInput={(event) => (text.value = event.currentTarget.value)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") void apply(event.currentTarget.value);
        if (event.key === "Escape") {
          text.value = null;
          wrong.value = "";
          event.currentTarget.blur();
        }
      }}
      onSearch={(event: Event) => void apply((event.currentTarget as HTMLInputElement).value)}
      onBlur={(event) => {
        if (text.peek() !== null) void apply(event.currentTarget.value);
      }}
    />
  );
}

/** Order and grouping of the timelines. */
function Order() {
  const spec = rested.value.timelines;
  const columns = meta.value?.maps[Number(item(spec, "map") ?? 0)]?.columns ?? [];
  const isChanged = ["sort", "order", "cluster", "groups", "block", "hide", "pin", "fold", "open", "shut", "only"].some((name) => item(spec, name as ItemName) !== null);
  const current = item(spec, "cluster") !== null ? "cluster" : item(spec, "groups") !== null ? "groups" : (item(spec, "sort") ?? (item(spec, "fold") !== null ? `fold${item(spec, "fold")}` : ""));
  const chosen = (value: string) => {
    const plain = (["sort", "order", "cluster", "groups", "block", "fold", "open", "shut"] as const).reduce<string>((text, name) => withItem(text, name, null), spec);
    const patch = { top: 0, height: 0 };
    if (value === "groups") return openDialog("groups");
    if (value === "reset") setTimelines(withItem("", "map", item(spec, "map")), patch);
    else if (value === "shown") setTimelines(withItem(spec, "hide", null), patch);
    else if (value === "cluster") setTimelines(withItem(plain, "cluster", "8"), patch);
    else if (value.startsWith("fold")) setTimelines(withItem(plain, "fold", value.slice(4)), patch);
    else setTimelines(withItem(plain, "sort", value || null), patch);
  };
  return (
    <select
      class="labels-order" aria-label="Order and grouping of the timelines" title="Order and grouping of the timelines"
      value={current} onChange={(event) => chosen(event.currentTarget.value)}
    >
      <option value="">by label</option>
      <option value="-busy">busiest first</option>
      <option value="busy">least busy first</option>
      <option value="-end">last to end first</option>
      <option value="first">first to begin first</option>
      {current !== "" && !["-busy", "busy", "-end", "first", "cluster", "groups"].includes(current) && !current.startsWith("fold")
        ? <option value={current}>{current}</option> : null}
      <option value="groups">own groups…</option>
      <option value="cluster">alike together (8 groups)</option>
      {columns.slice(0, -1).map((column, level) => <option value={`fold${level}`}>one timeline each {short(column, 20)}</option>)}
      {item(spec, "hide") !== null ? <option value="shown">show hidden timelines</option> : null}
      {isChanged ? <option value="reset">as in the trace</option> : null}
    </select>
  );
}
