import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { CalmRefresh } from "../src/calls/flame-refresh";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A reading that takes some milliseconds. */
const take = (ms: number) => vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, ms)));

test("a thousand changes are one reading a second, and the last change is read", async () => {
  const read = take(10);
  const refresh = new CalmRefresh(read);
  for (let moment = 0; moment < 3000; moment += 3) {
    refresh.tell();
    await vi.advanceTimersByTimeAsync(3);
  }
  expect(read).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(5000);
  expect(read).toHaveBeenCalledTimes(3);
});

test("what takes long is read again only after four times as long", async () => {
  const read = take(2000);
  const refresh = new CalmRefresh(read);
  refresh.tell();
  await vi.advanceTimersByTimeAsync(1500);
  refresh.tell(); // while it is being read
  expect(read).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(9000);
  expect(read).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(read).toHaveBeenCalledTimes(2);
});

test("a reading that fails does not end the refresh, and nothing is read once it is closed", async () => {
  const read = vi.fn(() => Promise.reject(new Error("gone")));
  const refresh = new CalmRefresh(read);
  refresh.tell();
  await vi.advanceTimersByTimeAsync(1000);
  refresh.tell();
  await vi.advanceTimersByTimeAsync(1000);
  expect(read).toHaveBeenCalledTimes(2);
  refresh.tell();
  refresh.close();
  refresh.tell();
  await vi.advanceTimersByTimeAsync(9000);
  expect(read).toHaveBeenCalledTimes(2);
});
