// The dialog of own groups: some made by a button, all as text.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { setTimelines } from "./actions";
import { askShared, question } from "./api";
import type { TimelinesAnswer } from "./answers";
import { linesOf, namesOf, neighbours, withGroups } from "./groups";
import { closeDialog } from "./modal";
import { item } from "./spec";
import { meta, view } from "./state";
import { short } from "./timeline/Tooltip";

export function GroupsDialog() {
  const element = useRef<HTMLDialogElement>(null);
  const text = useSignal(linesOf(view.peek().timelines));
  const size = useSignal(8);
  const wrong = useSignal("");
  useEffect(() => {
    element.current?.showModal();
  }, []);
  const maps = meta.value?.maps ?? [];
  const leaves = maps[Number(item(view.peek().timelines, "map") ?? 0)]?.leaves ?? 0;
  const node = maps.findIndex(({ columns }) => columns[0] === "node");
  const apply = async (lines: string) => {
    const found = withGroups(view.peek().timelines, lines);
    if ("wrong" in found) {
      wrong.value = found.wrong;
      return;
    }
    try {
      const made = await askShared<TimelinesAnswer>(view.peek().trace, question("timelines", { timelines: found.spec }));
      const empty = namesOf(found.spec).find((name) => !made.label.includes(name));
      if (empty !== undefined) {
        wrong.value = `No timeline is left for the group “${empty}”. They are numbered from 0 to ${leaves - 1}, and each is in one group`;
        return;
      }
      setTimelines(found.spec, { top: 0, height: 0 });
      closeDialog();
    } catch (error) {
      wrong.value = error instanceof Error ? error.message : String(error);
    }
  };
  const make = (lines: string) => {
    text.value = lines;
    wrong.value = "";
  };
  return (
    <dialog ref={element} class="groups" aria-labelledby="groups-title" onClose={closeDialog} onCancel={closeDialog}>
      <div class="dialog-head">
        <h2 id="groups-title">Groups of timelines</h2>
        <button type="button" onClick={closeDialog}>close <kbd>Esc</kbd></button>
      </div>
      <p>Each group is one timeline of all that is in it. The link keeps them. Timelines are numbered from 0; those in no group stay as they are.</p>
      <div class="group-kinds">
        <button type="button" onClick={() => make("even ranks = 0-/2\nodd ranks = 1-/2")}>even and odd</button>
        <button type="button" onClick={() => make(`every ${size.value}th = 0-/${size.value}\nothers = 0-`)}>every {size.value}th</button>
        <button type="button" onClick={() => make(neighbours(leaves, size.value))}>{size.value} neighbours each</button>
        <label>of <input type="number" min={2} max={100_000} value={size.value} onInput={(event) => (size.value = Math.max(2, Math.floor(Number(event.currentTarget.value)) || 2))} /></label>
        {node < 0 ? null : (
          <button type="button" onClick={() => {
            setTimelines(`${node > 0 ? `map:${node};` : ""}fold:0`, { top: 0, height: 0 });
            closeDialog();
          }}>by node</button>
        )}
      </div>
      <label class="group-text">
        <span>One group in each line, such as <code>odd ranks = 1-/2</code>, <code>first eight = 0-7</code>, <code>servers = server*</code></span>
        <textarea rows={8} spellcheck={false} value={text.value} aria-invalid={wrong.value !== ""} onInput={(event) => make(event.currentTarget.value)} />
      </label>
      {wrong.value === "" ? null : <p class="wrong" role="alert">{short(wrong.value, 300)}</p>}
      <div class="group-kinds">
        <button type="button" onClick={() => void apply(text.value)}>show these groups</button>
        <button type="button" onClick={() => void apply("")}>no groups</button>
      </div>
    </dialog>
  );
}
