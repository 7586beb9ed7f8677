// What stands above the picture keeps still while a range is dragged: it would move the picture below the pointer.

import { useRef } from "preact/hooks";
import { isSelecting } from "./state";

/** A value of the component; while a range is dragged, that from before. */
export function useHeld<T>(value: T): T {
  const held = useRef(value);
  if (!isSelecting.value) held.current = value;
  return held.current;
}
