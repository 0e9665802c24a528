// Only a tab that is seen keeps what costs a connection; a glance elsewhere costs nothing.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { whileSeen } from "../src/api/seen";

const A_GLANCE = 9_000;
const LONG = 11_000;
let page: EventTarget;
let hidden: boolean;
let told: string[];

beforeEach(() => {
  vi.useFakeTimers();
  page = new EventTarget();
  hidden = false;
  told = [];
  Object.defineProperty(page, "hidden", { get: () => hidden });
  vi.stubGlobal("document", page);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const kept = () =>
  whileSeen(
    () => told.push("open"),
    () => told.push("close"),
  );

function turn(to: "hidden" | "seen") {
  hidden = to === "hidden";
  page.dispatchEvent(new Event("visibilitychange"));
}

it("waits in a tab that was opened behind another, and opens once when it is seen", () => {
  hidden = true;
  kept();
  vi.advanceTimersByTime(LONG);
  expect(told).toEqual([]);
  turn("seen");
  turn("seen");
  expect(told).toEqual(["open"]);
});

it("stays open through a glance elsewhere", () => {
  kept();
  turn("hidden");
  vi.advanceTimersByTime(A_GLANCE);
  turn("seen");
  vi.advanceTimersByTime(LONG);
  expect(told).toEqual(["open"]);
});

it("closes once in a tab that stays hidden, and opens once when it is seen again", () => {
  kept();
  turn("hidden");
  vi.advanceTimersByTime(LONG);
  expect(told).toEqual(["open", "close"]);
  turn("seen");
  turn("seen");
  expect(told).toEqual(["open", "close", "open"]);
});

it("counts the time anew each time that the tab is hidden", () => {
  kept();
  for (let glance = 0; glance < 3; glance += 1) {
    turn("hidden");
    vi.advanceTimersByTime(A_GLANCE);
    turn("seen");
  }
  turn("hidden");
  vi.advanceTimersByTime(A_GLANCE);
  expect(told).toEqual(["open"]);
  vi.advanceTimersByTime(LONG - A_GLANCE);
  expect(told).toEqual(["open", "close"]);
});

it("hears nothing any more once it is closed for good", () => {
  const forget = kept();
  turn("hidden");
  forget();
  vi.advanceTimersByTime(LONG);
  turn("seen");
  expect(told).toEqual(["open", "close"]);
});
