import { describe, expect, it, vi } from "vitest";

import { type AskForCalls, CallFeed, KEPT, mergeCalls } from "../src/calls/call-feed";
import type { Call } from "../src/calls/call-texts";

const call = (id: string, status = "success") => ({ call_id: id, status }) as Call;
const page = (calls: Call[], more = {}) => ({
  calls,
  count: calls.length,
  next: null,
  has_more: false,
  cursor: "c0",
  looked_at: calls.length,
  undecided: 0,
  ...more,
});

/** A feed whose server answers these, one after the other. */
function feedOf(...answers: (ReturnType<typeof page> | Error)[]) {
  const asked: Parameters<AskForCalls>[0][] = [];
  const feed = new CallFeed(async (query) => {
    asked.push(query);
    const answer = answers.shift();
    if (!answer || answer instanceof Error) throw answer ?? new Error("nothing was expected");
    return answer;
  });
  return { feed, asked };
}
const idsOf = (calls: Call[]) => calls.map((each) => each.call_id);

describe("a feed of calls", () => {
  it("puts new calls on top and changes known ones where they stand", async () => {
    const { feed, asked } = feedOf(
      page([call("2", "running"), call("1")]),
      page([call("2"), call("3")], { next: "c1" }),
    );
    await feed.start();
    await feed.catchUp();
    expect(asked[1]).toMatchObject({ after: "c0" });
    expect(idsOf(feed.state.calls)).toEqual(["3", "2", "1"]);
    expect(feed.state.calls[1]?.status).toBe("success");
  });

  it("stands still while one reads, counts what is new, and shows it afterwards", async () => {
    const { feed } = feedOf(
      page([call("1")]),
      page([call("2"), call("3")], { next: "c1" }),
      page([call("2")], { next: "c2" }),
    );
    await feed.start();
    feed.stop();
    await feed.catchUp();
    await feed.catchUp();
    expect(idsOf(feed.state.calls)).toEqual(["1"]);
    expect(feed.state.waiting).toHaveLength(2);
    feed.goOn();
    expect(idsOf(feed.state.calls)).toEqual(["3", "2", "1"]);
    expect(feed.state.waiting).toHaveLength(0);
  });

  it("reads the list again when the server forgot what it had told", async () => {
    const { feed } = feedOf(page([call("1")]), page([], { missed: true, next: "c8" }), page([call("9")]));
    await feed.start();
    await feed.catchUp();
    expect(idsOf(feed.state.calls)).toEqual(["9"]);
  });

  it("adds up how far it looked and why it could not judge", async () => {
    const reason = (count: number) => ({
      condition_errors: [{ error: "no parameter itm", count }],
      undecided: count,
    });
    const { feed } = feedOf(page([call("2")], { next: "2", ...reason(3) }), page([call("1")], reason(2)));
    await feed.start();
    await feed.loadOlder();
    expect(feed.state).toMatchObject({ lookedAt: 2, undecided: 5, hasOlder: false });
    expect(feed.state.reasons).toEqual([{ error: "no parameter itm", count: 5 }]);
  });

  it("reads no more than it keeps while one reads, and begins anew afterwards", async () => {
    const many = Array.from({ length: KEPT }, (_, at) => call(String(at + 10)));
    const { feed, asked } = feedOf(page([call("1")]), page(many, { next: "c1" }), page([call("99")]));
    await feed.start();
    feed.stop();
    await feed.catchUp();
    await feed.catchUp();
    expect(asked).toHaveLength(2);
    feed.goOn();
    await vi.waitFor(() => expect(idsOf(feed.state.calls)).toEqual(["99"]));
  });

  it("keeps what it shows when the server does not answer", async () => {
    const problem = new Error("gone");
    const { feed } = feedOf(page([call("1")]), problem, page([], { next: "c1" }));
    await feed.start();
    await feed.catchUp();
    expect(feed.state).toMatchObject({ problem, isLooking: false });
    await feed.catchUp();
    expect(feed.state.problem).toBeNull();
    expect(idsOf(feed.state.calls)).toEqual(["1"]);
  });
});

it("sorts in calls that were reported late", () => {
  const { fresh } = mergeCalls([call("5")], [call("2"), call("7")]);
  expect(idsOf(fresh)).toEqual(["7", "2"]);
});
