// An answer that a panel shows: asked for when what it is about has come to rest, the last one stays until the next is there.

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Asker } from "../api";
import { isMoving, meta, rested } from "../state";

/** Milliseconds without a change before a question is asked. */
const REST = 180;

export interface Shown<T> {
  value: T | null;
  error: string;
  /** Whether the value is still that of another question. */
  isOld: boolean;
}

/** The answer to a question, null for none. */
export function useAnswer<T>(asked: string | null): Shown<T> {
  const [shown, setShown] = useState<Shown<T>>({ value: null, error: "", isOld: true });
  const asker = useRef<Asker<T> | null>(null);
  asker.current ??= new Asker<T>();
  const { trace } = rested.value;
  // Each of these knows better.
  const known = `${meta.value?.index.state === "ready"} ${meta.value?.index.counted ?? false}`;
  useEffect(() => {
    if (asked === null) {
      setShown({ value: null, error: "", isOld: false });
      return;
    }
    setShown((last) => ({ ...last, isOld: true }));
    let [isWanted, timer, wait] = [true, 0, shown.value === null ? 0 : REST];
    const answered = (next: Shown<T>) => {
      if (!isWanted) return;
      isWanted = false;
      setShown(next);
    };
    const refused = (error: unknown) => answered({ value: null, error: error instanceof Error ? error.message : String(error), isOld: false });
    const stop = effect(() => {
      window.clearTimeout(timer);
      if (!isWanted) return;
      // Whoever computes has pictures to compute first.
      if (isMoving.value) {
        asker.current?.stop();
        // After it, this may be about a window that is no more.
        wait = REST;
        return;
      }
      timer = window.setTimeout(() => {
        void asker.current?.ask(trace, asked, refused).then((found) => {
          if (found !== null) answered({ value: found, error: "", isOld: false });
        });
      }, wait);
    });
    return () => {
      isWanted = false;
      stop();
      window.clearTimeout(timer);
      asker.current?.stop();
    };
  }, [trace, asked, known]);
  return shown;
}
