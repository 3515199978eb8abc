const KEPT = 200;

/** The lines that were entered, and where one is in them; the end is the line that is being typed. */
export class LineHistory {
  private lines: string[] = [];
  private at = 0;
  private draft = "";

  add(line: string): void {
    if (this.lines.at(-1) !== line) this.lines = [...this.lines.slice(1 - KEPT), line];
    this.at = this.lines.length;
    this.draft = "";
  }

  /** The line before or after the one that is shown; null if there is none. */
  move(step: -1 | 1, shown: string): string | null {
    const next = this.at + step;
    if (next < 0 || next > this.lines.length) return null;
    if (this.at === this.lines.length) this.draft = shown;
    this.at = next;
    return this.lines[next] ?? this.draft;
  }
}
