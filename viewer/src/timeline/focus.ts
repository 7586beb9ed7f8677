// Where the focus goes when what had it is gone.

/** Gives the focus to the timelines, whose keys work then, and from which Tab goes on. */
export function focusTimelines(): void {
  document.getElementById("timeline")?.focus({ preventScroll: true });
}
