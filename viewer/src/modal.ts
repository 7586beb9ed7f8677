// The dialog that is open, and whether letters are keys.

import { effect, signal } from "@preact/signals";

export type Dialog = "help" | "palette" | "groups" | null;

export const dialog = signal<Dialog>(null);
/** Whether single letters are keys: who speaks to the computer may want to switch them off. Kept in this browser. */
export const letters = signal(true);

/** Remembers the choice about letters. */
export function remember(): void {
  try {
    letters.value = localStorage.getItem("letters") !== "no";
    effect(() => localStorage.setItem("letters", letters.value ? "yes" : "no"));
  } catch {
    // A browser that keeps nothing: the choice lives as long as the page.
  }
}

/** What had the focus before a dialog was opened. */
let before: Element | null = null;

export function openDialog(name: Dialog): void {
  // From a dialog to another one: the first one has gone when the second is shut.
  before ??= document.activeElement;
  dialog.value = name;
}

/** Shuts the dialog; the focus goes back to where it was. */
export function closeDialog(): void {
  dialog.value = null;
  // Nothing outside of a dialog takes the focus as long as it is in the page, which it is until the page is drawn again.
  queueMicrotask(() => {
    if (dialog.peek() !== null) return;
    if (before instanceof HTMLElement) before.focus();
    before = null;
  });
}
