// The one table of all that can be done by key or pointer: it drives the keyboard, the help, the palette of commands, and the
// browser tests, which try every line of it.

import * as act from "./actions";
import { cycleAlignment } from "./compare";
import { closeDialog, letters, openDialog } from "./modal";
import { addNote } from "./notes";
import { firstHit, nextHit } from "./finding";
import { PALETTES } from "./palette";
import { change, isDark, MODES, PANELS, redo, say, undo, view, wheelZooms } from "./state";

export const GROUPS = ["Time", "Timelines", "Selection", "Search", "View", "Pointer"] as const;
export type Group = (typeof GROUPS)[number];

export interface Action {
  id: string;
  group: Group;
  title: string;
  /** Names of keys as browsers have them, with `Ctrl+`, `Alt+`, `Shift+` before those that are no letters. */
  keys: readonly string[];
  /** What the pointer does instead of a key. */
  pointer?: string;
  /** What is done; missing where only the pointer can, or the browser does it. */
  run?: () => void;
  /** Keys that mean something in lists and fields: only in the timeline, or where nothing has the focus. */
  here?: boolean;
}

const action = (id: string, group: Group, title: string, keys: string[], run: () => void, here = false): Action =>
  ({ id, group, title, keys, run, here });
const pointer = (id: string, title: string, how: string): Action => ({ id, group: "Pointer", title, keys: [], pointer: how });

const PANEL_TITLES = {
  summary: "Summary", stats: "Statistics", timelines: "Per timeline", matrix: "Messages", hits: "Hits", events: "Events", io: "I/O", pins: "Pins", compare: "Compare",
} as const;
export { PANEL_TITLES };

export const ACTIONS: readonly Action[] = [
  action("zoom-in", "Time", "Zoom in", ["w", "+", "="], () => act.zoom(0.5)),
  action("zoom-out", "Time", "Zoom out", ["s", "-"], () => act.zoom(2)),
  action("pan-left", "Time", "Earlier", ["a"], () => act.pan(-0.25)),
  action("pan-right", "Time", "Later", ["d"], () => act.pan(0.25)),
  action("pan-left-little", "Time", "A little earlier", ["ArrowLeft"], () => act.pan(-0.1), true),
  action("pan-right-little", "Time", "A little later", ["ArrowRight"], () => act.pan(0.1), true),
  action("whole", "Time", "The whole trace", ["0"], act.wholeTrace),
  action("begin", "Time", "Begin of the trace", ["Home"], () => act.toEnd(-1), true),
  action("end", "Time", "End of the trace", ["End"], () => act.toEnd(1), true),
  action("show", "Time", "Bring the selection into view", ["f"], act.showSelection),
  action("zoom-selection", "Time", "Zoom to the selection", ["z"], act.zoomToSelection),
  action("undo", "Time", "Undo", ["u", "Ctrl+z"], undo),
  action("redo", "Time", "Redo", ["U", "Ctrl+Shift+z", "Ctrl+y"], redo),

  action("timeline-up", "Timelines", "Cursor one timeline up", ["ArrowUp"], () => act.moveCursor(-1), true),
  action("timeline-down", "Timelines", "Cursor one timeline down", ["ArrowDown"], () => act.moveCursor(1), true),
  action("page-up", "Timelines", "A page of timelines up", ["PageUp"], () => act.pageTimelines(-1), true),
  action("page-down", "Timelines", "A page of timelines down", ["PageDown"], () => act.pageTimelines(1), true),
  action("timelines-higher", "Timelines", "Higher timelines", ["Alt+ArrowUp"], () => act.zoomTimelines(1.4), true),
  action("timelines-lower", "Timelines", "Lower timelines", ["Alt+ArrowDown"], () => act.zoomTimelines(1 / 1.4), true),
  action("expand", "Timelines", "Open the group", ["e"], () => act.openTimeline(true)),
  action("collapse", "Timelines", "Shut the group", ["c"], () => act.openTimeline(false)),
  action("group", "Timelines", "One timeline for each group, next level", ["g"], act.group),
  action("pin-timeline", "Timelines", "Keep the timeline on top, or no longer", ["P"], () => act.pinTimeline()),
  action("hide-timeline", "Timelines", "Hide the timeline", ["H"], () => act.hideTimeline()),
  action("full", "Timelines", "The timeline in full, its call depths under one another, or no longer", ["q"], () => act.toggleFull()),
  action("groups", "Timelines", "Own groups of timelines", ["o"], () => openDialog("groups")),
  action("rename-timeline", "Timelines", "Another name for the timeline, in this page and its link", ["F2"], act.renameTimeline),
  action("next-map", "Timelines", "Next way to name timelines", ["v"], act.nextMap),

  action("enter", "Selection", "Select what is under the cursor; zoom to it or to the range", ["Enter"], () => void act.enter(), true),
  action("previous", "Selection", "Previous state on the timeline", [","], () => void act.nextOnTimeline(-1)),
  action("next", "Selection", "Next state on the timeline", ["."], () => void act.nextOnTimeline(1)),
  action("sender", "Selection", "Along the arrow to the sender; from a collective call to the rank that came last", ["["], () => void act.follow(-1)),
  action("cause", "Selection", "Back along the wait: what the rank that was waited for did meanwhile", ["b"], () => void act.toCause()),
  action("receiver", "Selection", "Along the arrow to the receiver", ["]"], () => void act.follow(1)),
  action("hide-kind", "Selection", "Hide the category of the selection", ["h"], act.hideCurrent),
  action("show-all", "Selection", "Show all categories", [], () => change({ hide: [] })),
  action("keep", "Selection", "Keep the selection under Pins", ["k"], act.pinSelection),
  action("note", "Selection", "A note at the selection or the cursor", ["i"], addNote),
  action("range", "Selection", "Select the whole window as range", ["r"], act.selectWindow),
  action("cancel", "Selection", "Cancel, clear", ["Escape"], act.cancel),

  action("search", "Search", "Search", ["/"], () => focus("search")),
  action("next-hit", "Search", "Next hit", ["n"], () => void nextHit(1)),
  action("previous-hit", "Search", "Previous hit", ["p", "N"], () => void nextHit(-1)),
  action("sums", "Search", "Sum up what a search finds, by rank, name …", [], () => {
    change({ panel: "hits" });
    requestAnimationFrame(() => focus("sums"));
  }),
  action("first-hit", "Search", "First hit of the trace", [], () => void firstHit()),

  action("arrows", "View", "Arrows: none, of the selection, the messages that take longest, all", ["m"], act.cycleArrows),
  action("path", "View", "The critical path as a line, or no longer", ["l"], act.togglePath),
  action("tracks", "View", "Tracks above the timelines: the ranks, all, none", ["j"], act.cycleTracks),
  action("mode", "View", "What is shown where many share a pixel: most, rarest, stack", ["x"], () => {
    const modes = MODES.filter((mode) => mode !== "heat");
    const next = modes[(modes.indexOf(view.peek().mode as (typeof modes)[number]) + 1) % modes.length]!;
    change({ mode: next });
    say(`shown: ${next}`);
  }),
  action("colors", "View", "Next colours", [], () => {
    const nth = PALETTES.findIndex(({ name }) => name === view.peek().palette);
    const next = PALETTES[(nth + 1) % PALETTES.length]!;
    change({ palette: next.name });
    say(`colours: ${next.title}`);
  }),
  action("align", "View", "Lay the compared trace by its begin, by phases, by the calls of what is selected", ["A"], cycleAlignment),
  action("theme", "View", "Light or dark", ["t"], () => change({ theme: isDark.peek() ? "light" : "dark" })),
  action("wheel", "View", "Let the wheel zoom, or scroll", [], () => {
    wheelZooms.value = !wheelZooms.peek();
    say(wheelZooms.peek() ? "the wheel zooms" : "the wheel scrolls timelines");
  }),
  ...PANELS.map((panel, nth) =>
    action(`panel-${panel}`, "View", `Panel ${PANEL_TITLES[panel]}`, [String(nth + 1)], () => act.nthPanel(nth))),
  action("regions", "View", "Timeline, panels, legend", ["F6"], nextRegion),
  action("link", "View", "Copy the link to this view", ["y"], () => void act.copyLink()),
  action("palette", "View", "All commands", ["Ctrl+k"], () => openDialog("palette")),
  action("help", "View", "Help", ["?", "F1"], () => openDialog("help")),
  { id: "tab", group: "View", title: "From timelines to panels and back", keys: ["Tab"] },

  pointer("wheel-timelines", "Timelines up and down; an option lets it zoom", "wheel"),
  pointer("wheel-zoom", "Zoom time at the pointer", "Ctrl+wheel, pinch"),
  pointer("wheel-pan", "Earlier, later", "Shift+wheel"),
  pointer("wheel-timeline-height", "Higher, lower timelines", "Alt+wheel"),
  pointer("drag-range", "Select a range of time and timelines: all panels are about it; double click or Enter zooms to it", "drag"),
  pointer("drag-measure", "Measure", "Shift+drag"),
  pointer("drag-pan", "Move", "drag with the middle button, or on the ruler"),
  pointer("click-select", "Select; an arrow, too", "click"),
  pointer("click-extend", "Extend to a range", "Shift+click"),
  pointer("click-add", "Add to the selection", "Ctrl+click"),
  pointer("double-click", "Zoom to the range, the state or the message", "double click"),
  pointer("minimap", "Move the window by its frame, resize it by the edges, draw another elsewhere; double click for everything", "drag in the strip above"),
  pointer("timeline-labels", "Move a timeline to another place; ▸ opens a group, ☆ pins on top, ⤢ shows a timeline in full, ✎ gives another name, × hides", "drag a timeline's label"),
];

/** Regions in the order of F6. */
const REGIONS = ["timeline", "tab", "legend-filter", "search"];

function focus(id: string): void {
  const found = id === "tab" ? document.querySelector<HTMLElement>('[role="tab"][tabindex="0"]') : document.getElementById(id);
  found?.focus();
  if (found instanceof HTMLInputElement) found.select();
}

function nextRegion(): void {
  const isIn = (id: string) => id === "tab"
    ? document.activeElement?.closest(".bottom") !== null && document.activeElement?.closest(".bottom") !== undefined
    : id === "legend-filter" ? Boolean(document.activeElement?.closest(".side")) : document.activeElement?.id === id;
  // The legend may be shut, or be a panel that is not shown.
  const at = REGIONS.findIndex(isIn) + 1;
  const others = [...REGIONS.slice(at), ...REGIONS.slice(0, at)];
  focus(others.find((id) => id === "tab" || document.getElementById(id) !== null)!);
}

/** The name of a pressed key as the table writes it. */
export function nameOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  const isLetter = event.key.length === 1;
  const key = event.ctrlKey || event.metaKey ? event.key.toLowerCase() : event.key;
  return [
    event.ctrlKey || event.metaKey ? "Ctrl+" : "",
    event.altKey ? "Alt+" : "",
    event.shiftKey && (!isLetter || event.ctrlKey || event.metaKey) ? "Shift+" : "",
    key,
  ].join("");
}

const BY_KEY = new Map(ACTIONS.flatMap((one) => one.keys.map((key) => [key, one] as const)));

/** Whether keys belong to what has the focus: a field that is written in. */
function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** Whether arrows and Enter belong to what has the focus. */
function isWidget(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target !== document.body && target.id !== "timeline";
}

/** Does what the table says about a key. */
export function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  const found = BY_KEY.get(name);
  if (!found?.run) return;
  const isInDialog = document.querySelector("dialog[open]") !== null;
  if (isInDialog && !(name === "Ctrl+k" || name === "F1")) return;
  if (isField(event.target)) {
    if (name === "Escape") (event.target as HTMLElement).blur();
    if (!name.startsWith("Ctrl+k") && name !== "F1" && name !== "F6") return;
  }
  if (found.here && isWidget(event.target)) return;
  if (name.length === 1 && !letters.peek()) return;
  event.preventDefault();
  if (isInDialog) closeDialog();
  found.run();
}

/** How a key is written for people. */
export function keyText(key: string): string {
  const names: Record<string, string> = {
    ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", PageUp: "PgUp", PageDown: "PgDn", Escape: "Esc", "-": "−",
  };
  return key.split(/\+(?=.)/).map((part) => names[part] ?? (/^[A-Z]$/.test(part) ? `Shift+${part}` : part.length === 1 ? part.toUpperCase() : part)).join("+");
}

