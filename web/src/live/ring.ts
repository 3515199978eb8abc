/** The newest items of all that were pushed, readable by index without a copy. */
export class Ring<T> {
  private readonly slots: (T | undefined)[];
  private next = 0;
  /** How many were ever pushed. */
  total = 0;

  constructor(readonly size: number) {
    this.slots = new Array<T | undefined>(size);
  }

  push(item: T): void {
    this.slots[this.next] = item;
    this.next = (this.next + 1) % this.size;
    this.total += 1;
  }

  get length(): number {
    return Math.min(this.total, this.size);
  }

  /** The item at an index; 0 is the newest. */
  newest(index: number): T | undefined {
    if (index < 0 || index >= this.length) return undefined;
    return this.slots[(this.next - 1 - index + 2 * this.size) % this.size];
  }
}
