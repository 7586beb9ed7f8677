// Undo and redo of views. Steps that follow each other quickly and do the same (the ticks of a wheel) are one.

/** Steps that are remembered. */
const MOST = 200;
/** Milliseconds within which changes of the same name belong together. */
const TOGETHER = 700;

export class History<T> {
  private done: T[] = [];
  private undone: T[] = [];
  private lastName = "";
  private lastTime = Number.NEGATIVE_INFINITY;

  /** `before` was left for something else at `now` ms by something of this name; an empty name stands alone. Whether it is a step of its own. */
  push(before: T, name: string, now: number): boolean {
    const continues = name !== "" && name === this.lastName && now - this.lastTime < TOGETHER;
    this.lastName = name;
    this.lastTime = now;
    this.undone = [];
    if (continues && this.done.length > 0) return false;
    this.done.push(before);
    if (this.done.length > MOST) this.done.shift();
    return true;
  }

  /** What was there before `current`. */
  undo(current: T): T | null {
    return this.step(current, this.done, this.undone);
  }

  redo(current: T): T | null {
    return this.step(current, this.undone, this.done);
  }

  /** Forgets all: what was there before is of no use any more. */
  clear(): void {
    this.done = [];
    this.undone = [];
    this.lastName = "";
  }

  get canUndo(): boolean {
    return this.done.length > 0;
  }

  get canRedo(): boolean {
    return this.undone.length > 0;
  }

  private step(current: T, from: T[], to: T[]): T | null {
    const found = from.pop();
    if (found === undefined) return null;
    to.push(current);
    this.lastName = "";
    return found;
  }
}
