// Help and the palette of commands, both made of the table of keys.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { GroupsDialog } from "./GroupsDialog";
import { ACTIONS, GROUPS, keyText, type Action } from "./keys";
import { closeDialog, dialog, letters } from "./modal";
import { wheelZooms } from "./state";

export function Dialogs() {
  const open = dialog.value;
  return open === "help" ? <Help /> : open === "palette" ? <Palette /> : open === "groups" ? <GroupsDialog /> : null;
}

/** A dialog that is open as long as it is in the page. */
function useModal() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return element;
}

function Keys({ action }: { action: Action }) {
  if (action.pointer) return <span>{action.pointer}</span>;
  return <>{action.keys.map((key, nth) => <>{nth > 0 ? " " : ""}<kbd key={key}>{keyText(key)}</kbd></>)}</>;
}

function Help() {
  const element = useModal();
  return (
    <dialog ref={element} class="help" aria-labelledby="help-title" onClose={closeDialog} onCancel={closeDialog}>
      <div class="dialog-head">
        <h2 id="help-title">Keys and pointer</h2>
        <button type="button" onClick={closeDialog}>close <kbd>Esc</kbd></button>
      </div>
      <div class="help-groups" tabIndex={0} role="group" aria-label="All keys">
        {GROUPS.map((group) => (
          <table key={group}>
            <caption>{group}</caption>
            <tbody>
              {ACTIONS.filter((one) => one.group === group && (one.keys.length > 0 || one.pointer)).map((one) => (
                <tr key={one.id}><th scope="row"><Keys action={one} /></th><td>{one.title}</td></tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
      <p>
        <label><input type="checkbox" checked={letters.value} onChange={(event) => (letters.value = event.currentTarget.checked)} /> single letters are keys</label>{" "}
        <label><input type="checkbox" checked={wheelZooms.value} onChange={(event) => (wheelZooms.value = event.currentTarget.checked)} /> the wheel zooms (Ctrl+wheel scrolls)</label>
      </p>
    </dialog>
  );
}

function Palette() {
  const element = useModal();
  const text = useSignal("");
  const at = useSignal(0);
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = ACTIONS.filter((one) => one.run && one.id !== "palette" && words.every((word) => `${one.group} ${one.title}`.toLowerCase().includes(word)));
  const chosen = Math.min(at.value, fitting.length - 1);
  const run = (one: Action | undefined) => {
    closeDialog();
    // After the dialog has gone, so that the action can move the focus.
    if (one) window.setTimeout(() => one.run?.(), 0);
  };
  useEffect(() => {
    element.current?.querySelector(`#command-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <dialog ref={element} class="commands" aria-label="All commands" onClose={closeDialog} onCancel={closeDialog}>
      <input
        role="combobox" aria-expanded="true" aria-controls="command-list" aria-autocomplete="list" aria-label="Command" placeholder="command…"
        aria-activedescendant={fitting.length > 0 ? `command-${chosen}` : undefined} value={text.value} autoFocus
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") at.value = (chosen + 1) % Math.max(1, fitting.length);
          else if (event.key === "ArrowUp") at.value = (chosen + fitting.length - 1) % Math.max(1, fitting.length);
          else if (event.key === "Enter") run(fitting[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="command-list" role="listbox" aria-label="Commands">
        {fitting.map((one, nth) => (
          <li key={one.id} id={`command-${nth}`} role="option" aria-selected={nth === chosen} onClick={() => run(one)} onPointerMove={() => (at.value = nth)}>
            <span class="faint">{one.group}</span> {one.title} <span class="keys"><Keys action={one} /></span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}
