const LEAST_PAUSE = 1_000;
/** Reading takes at most a fifth of the time, however long one reading takes. */
const SHARE = 4;

/** Reads again after a change: not more than once a second, never twice at once, and the last change counts. */
export class CalmRefresh {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isReading = false;
  private isStale = false;
  private pause = LEAST_PAUSE;

  constructor(private readonly read: () => Promise<unknown>) {}

  /** Something has changed. */
  tell(): void {
    this.isStale = true;
    if (this.timer === null && !this.isReading)
      this.timer = setTimeout(() => void this.readNow(), this.pause);
  }

  private async readNow(): Promise<void> {
    this.timer = null;
    this.isReading = true;
    this.isStale = false;
    const began = performance.now();
    await this.read().catch(() => undefined); // whoever shows the answer shows its problem
    this.pause = Math.max(LEAST_PAUSE, SHARE * (performance.now() - began));
    this.isReading = false;
    if (this.isStale) this.tell();
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.isReading = true; // so that nothing is started any more
  }
}
