// An answer that a panel shows: asked for when what it is about has come to rest, the last one stays until the next is there.

import { useEffect, useRef, useState } from "preact/hooks";
import { Asker } from "../api";
import { meta, view } from "../state";

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
  const { trace } = view.value;
  const isReady = meta.value?.index.state === "ready";
  useEffect(() => {
    if (asked === null) {
      setShown({ value: null, error: "", isOld: false });
      return;
    }
    setShown((last) => ({ ...last, isOld: true }));
    let isWanted = true;
    const timer = window.setTimeout(() => {
      const refused = (error: unknown) => {
        if (isWanted) setShown({ value: null, error: error instanceof Error ? error.message : String(error), isOld: false });
      };
      void asker.current?.ask(trace, asked, refused).then((found) => {
        if (isWanted && found !== null) setShown({ value: found, error: "", isOld: false });
      });
    }, shown.value === null ? 0 : REST);
    return () => {
      isWanted = false;
      window.clearTimeout(timer);
    };
  }, [trace, asked, isReady]);
  return shown;
}
