import type { Schemas } from "../api/client";
import type { Call } from "./call-texts";

type CallPage = Schemas["CallPage"];
export type Reason = Schemas["UndecidedCondition"];

/** One request to `GET /api/calls`: older calls than `before`, or what arrived after `after`. */
export type AskForCalls = (query: { before?: string; after?: string; limit: number }) => Promise<CallPage>;

export interface FeedState {
  /** The calls that are shown, the newest first. */
  calls: Call[];
  /** What has come since the list was stopped. */
  waiting: Call[];
  isTailing: boolean;
  isLooking: boolean;
  /** Whether there are older calls. */
  hasOlder: boolean;
  lookedAt: number;
  undecided: number;
  reasons: Reason[];
  problem: unknown;
}

const PAGE = 200;
const ARRIVALS = 1000;
/** After so many answers full of arrivals it is quicker to read the list anew. */
const MOST_ROUNDS = 4;
/** As many calls are kept while the list follows; older ones are read again when one goes there. */
export const KEPT = 20_000;

/** The calls with arrivals put in: known ones replaced where they stand, new ones sorted in. */
export function mergeCalls(calls: Call[], arrivals: Call[]): { calls: Call[]; fresh: Call[] } {
  const latest = new Map(arrivals.map((call) => [call.call_id, call]));
  const merged = calls.map((call) => {
    const changed = latest.get(call.call_id);
    if (changed) latest.delete(call.call_id);
    return changed ?? call;
  });
  return { calls: merged, fresh: sortCalls([...latest.values()]) };
}

const compareIds = (a: Call, b: Call) => (a.call_id < b.call_id ? 1 : a.call_id > b.call_id ? -1 : 0);
const sortCalls = (calls: Call[]): Call[] => calls.sort(compareIds);

/** New calls on top. They are older than what is there if they were reported late. */
function addCalls(fresh: Call[], calls: Call[]): Call[] {
  const [oldest, newest] = [fresh.at(-1), calls[0]];
  if (!oldest) return calls;
  const together = [...fresh, ...calls];
  return newest && oldest.call_id < newest.call_id ? sortCalls(together) : together;
}

/** The recorded calls that fit a filter: read from the newest on, and followed. */
export class CallFeed {
  state: FeedState = {
    calls: [],
    waiting: [],
    isTailing: true,
    isLooking: true,
    hasOlder: false,
    lookedAt: 0,
    undecided: 0,
    reasons: [],
    problem: null,
  };
  private next: string | null = null;
  private cursor: string | null = null;
  private isBusy = false;
  private isStale = false;
  /** Whether more arrived than was read. */
  private isBehind = false;
  private readonly watchers = new Set<() => void>();

  constructor(private readonly ask: AskForCalls) {}

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  readonly getState = (): FeedState => this.state;

  private change(change: Partial<FeedState>): void {
    this.state = { ...this.state, ...change };
    for (const watcher of this.watchers) watcher();
  }

  /** One thing after another; what arrives meanwhile is caught up with afterwards. */
  private async work(run: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    try {
      await run();
      if (this.state.problem) this.change({ problem: null });
    } catch (problem) {
      this.change({ problem, isLooking: false });
    } finally {
      this.isBusy = false;
    }
    if (this.isStale) await this.catchUp();
  }

  async start(): Promise<void> {
    if (!this.isBusy) await this.work(() => this.readNewest());
  }

  private async readNewest(): Promise<void> {
    this.change({ isLooking: true, lookedAt: 0, undecided: 0, reasons: [] });
    const page = await this.ask({ limit: PAGE });
    this.isBehind = false;
    this.cursor = page.cursor;
    this.next = page.next;
    this.count(page);
    this.change({ calls: page.calls, waiting: [], isLooking: false, hasOlder: page.next !== null });
  }

  /** Read the calls before those that are shown. */
  async loadOlder(): Promise<void> {
    const before = this.next;
    if (before === null || this.isBusy) return;
    this.change({ isLooking: true });
    await this.work(async () => {
      const page = await this.ask({ before, limit: PAGE });
      this.next = page.next;
      this.count(page);
      const calls = [...this.state.calls, ...page.calls];
      this.change({ calls, isLooking: false, hasOlder: page.next !== null });
    });
  }

  /** Read what has arrived or changed. */
  async catchUp(): Promise<void> {
    if (this.isBusy || this.cursor === null) {
      this.isStale = true;
      return;
    }
    this.isStale = false;
    if (this.state.waiting.length >= KEPT) return; // so many are only counted; they are read to go on
    await this.work(() => (this.isBehind ? this.readNewest() : this.readArrivals()));
  }

  private async readArrivals(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS && this.cursor !== null; round++) {
      const page: CallPage = await this.ask({ after: this.cursor, limit: ARRIVALS });
      if (page.missed) return this.readNewest();
      this.cursor = page.next;
      this.count(page);
      this.take(page.calls);
      if (!page.has_more) return;
    }
    // There are more than one can follow. The newest are on the first page.
    if (this.state.isTailing) await this.readNewest();
    else this.isStale = true;
  }

  private take(arrivals: Call[]): void {
    const { calls, fresh } = mergeCalls(this.state.calls, arrivals);
    if (!this.state.isTailing) {
      const waiting = mergeCalls(this.state.waiting, fresh);
      this.change({ calls, waiting: addCalls(waiting.fresh, waiting.calls) });
      return;
    }
    const all = addCalls(fresh, calls);
    this.change({ calls: all.length > KEPT ? this.dropOldest(all) : all });
  }

  private dropOldest(calls: Call[]): Call[] {
    const kept = calls.slice(0, KEPT);
    this.next = kept.at(-1)?.call_id ?? null;
    this.change({ hasOlder: true });
    return kept;
  }

  private count(page: CallPage): void {
    const { lookedAt, undecided, reasons } = this.state;
    this.change({
      lookedAt: lookedAt + page.looked_at,
      undecided: undecided + page.undecided,
      reasons: addReasons(reasons, page.condition_errors ?? []),
    });
  }

  /** Let the list stand still; what comes is counted. */
  stop(): void {
    if (this.state.isTailing) this.change({ isTailing: false });
  }

  /** Show what came meanwhile, and follow again. */
  goOn(): void {
    const { calls, waiting } = this.state;
    this.isBehind = waiting.length >= KEPT;
    this.change({ calls: this.isBehind ? calls : addCalls(waiting, calls), waiting: [], isTailing: true });
    if (this.isBehind) void this.catchUp();
  }
}

function addReasons(known: Reason[], more: Reason[]): Reason[] {
  if (!more.length) return known;
  const counts = new Map(known.map(({ error, count }) => [error, count]));
  for (const { error, count } of more) counts.set(error, (counts.get(error) ?? 0) + count);
  return [...counts].map(([error, count]) => ({ error, count })).sort((a, b) => b.count - a.count);
}
