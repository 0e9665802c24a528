// What the pages of audit, alerts, access and settings decide without drawing.
import { describe, expect, it } from "vitest";

import { placeAfter, tokenOf } from "../src/pages/access/next";
import { choiceOf, conditionOf, holesOf, scopeOf, written } from "../src/pages/alerts/conditions";
import { deliveryOf, subjectPlace } from "../src/pages/alerts/delivery";
import { goesOn, IN_VAIN, isShort, wantedOf } from "../src/pages/audit/things";
import { allOf, askedOf, changedIn, isOther, newestFirst } from "../src/parts/auditing";
import { placeOf } from "../src/parts/places";
import { worriesOf } from "../src/pages/settings/facts";
import { instanceOf, matches, sections } from "../src/shell/found";
import { after } from "../src/shell/recent";

const HERE = "https://hourhand.example";

describe("where the sign-in leads", () => {
  it("is a place of this server", () => {
    expect(placeAfter("/instances?status=failed#x", HERE)).toBe("/instances?status=failed#x");
    expect(placeAfter(undefined, HERE)).toBe("/");
  });
  it.each([
    "https://evil.example/",
    "//evil.example/x",
    "/\\evil.example",
    "/\t/evil.example",
    "/.//evil.example",
    "javascript:alert(1)",
    "evil",
    "/sign-in?next=/x",
    "//",
  ])("is never %j", (next) => {
    expect(placeAfter(next, HERE)).toBe("/");
  });
  it("takes a token from the fragment only", () => {
    expect(tokenOf("#token=hh_abc")).toBe("hh_abc");
    expect(tokenOf("#token=")).toBeNull();
    expect(tokenOf("")).toBeNull();
  });
});

describe("a rule's condition", () => {
  it("is measured by seconds or by the median, which are two choices of one kind", () => {
    expect(choiceOf({ kind: "running_longer", seconds: 60 })).toBe("running_longer");
    expect(choiceOf({ kind: "running_longer", times_median: 3 })).toBe("running_longer_median");
    expect(conditionOf("running_longer_median")).toEqual({ kind: "running_longer", times_median: 3 });
    expect(conditionOf("late", { seconds: 5 })).toEqual({ kind: "late", seconds: 5 });
  });
  it("is said with lengths that people read", () => {
    expect(holesOf({ kind: "late", seconds: 300 })).toEqual({ length: "5 min" });
    expect(holesOf({ kind: "queue_longer", count: 10, minutes: 90 })).toEqual({ count: 10, length: "1 h 30 min" });
  });
  it("is about everything, a group or a task", () => {
    for (const scope of ["all", { group: "a" }, { task: "b" }]) expect(written(scopeOf(scope))).toEqual(scope);
    expect(scopeOf({ task: 7 })).toEqual({ of: "task", name: "7" });
  });
});

describe("a notice", () => {
  it("is sent, given up, tried again, or waiting", () => {
    expect(deliveryOf({ sent_at: "x", given_up_at: null, tries: 1 })).toBe("sent");
    expect(deliveryOf({ sent_at: null, given_up_at: "x", tries: 9 })).toBe("givenUp");
    expect(deliveryOf({ sent_at: null, given_up_at: null, tries: 2 })).toBe("failing");
    expect(deliveryOf({ sent_at: null, given_up_at: null, tries: 0 })).toBe("waiting");
  });
  it("leads to the nearest thing it is about", () => {
    expect(subjectPlace({ instance_id: 5, task_id: 7 })).toBe("/instances/5");
    expect(subjectPlace({ task_id: 7, group_id: 1 })).toBe("/tasks/7");
    expect(subjectPlace({ group_id: 1 })).toBe("/executors");
    expect(subjectPlace({})).toBeNull();
  });
});

describe("the audit", () => {
  it("leads to what an entry is about, if that has a page", () => {
    expect(placeOf("task", "7")).toEqual({ to: "/tasks/7" });
    expect(placeOf("operation", "12")).toEqual({ to: "/instances/12" });
    expect(placeOf("alert-rule", "3")).toEqual({ to: "/alerts", search: { tab: "rules", rule: "3" } });
    expect(placeOf("task", "../../x")).toBeNull();
    expect(placeOf("user", "4")).toEqual({ to: "/access", search: { user: "4" } });
    expect(placeOf("user", "x")).toEqual({ to: "/access" });
    expect(placeOf("calendar", "5")).toEqual({ to: "/pauses", search: { tab: "calendars", calendar: "5" } });
    expect(placeOf("maintenance-window", "6")).toEqual({ to: "/pauses", search: { tab: "windows" } });
    expect(placeOf("demo", null)).toBeNull();
  });
  it("asks for an id only together with a type, as the server wants", () => {
    expect(wantedOf({ id: "7" })).toEqual({});
    expect(wantedOf({ type: "task", id: "7", result: "odd" })).toEqual({ resource_type: "task", resource_id: "7" });
  });
});

describe("what was done to one thing", () => {
  it("is asked for with a task's instances, and else by what it is", () => {
    expect(askedOf({ type: "task", id: 7 })).toEqual({ task_id: 7 });
    expect(askedOf({ type: "user", id: 7 })).toEqual({ resource_type: "user", resource_id: "7" });
  });
  it("is listed by the audit's own filters", () => {
    expect(wantedOf(allOf({ type: "task", id: 7 }))).toEqual({ task_id: 7 });
    expect(wantedOf(allOf({ type: "group", id: 7 }))).toEqual({ resource_type: "group", resource_id: "7" });
    expect(wantedOf({ task: "x" })).toEqual({});
    // The server takes one of them.
    expect(wantedOf({ task: "7", type: "instance", id: "9" })).toEqual({ task_id: 7, resource_type: "instance" });
  });
  it("is looked for until a screen is full, but not for ever", () => {
    const looked = { items: [1], pages: 3, more: true, fetching: false };
    expect(goesOn(looked, 25, IN_VAIN)).toBe(true);
    expect(goesOn({ ...looked, fetching: true }, 25, IN_VAIN)).toBe(false);
    expect(goesOn({ ...looked, items: Array(25).fill(1) }, 25, IN_VAIN)).toBe(false);
    expect(goesOn({ ...looked, more: false }, 25, IN_VAIN)).toBe(false);
    expect(goesOn({ ...looked, pages: IN_VAIN }, 25, IN_VAIN)).toBe(false);
    expect(isShort({ ...looked, pages: IN_VAIN }, 25)).toBe(true);
    expect(goesOn({ ...looked, pages: IN_VAIN }, 25, 2 * IN_VAIN)).toBe(true);
  });
  it("names what was changed, and what else it concerns", () => {
    const before = { priority: 1, version: 1, payload: { a: 1, b: 2 } };
    const entry = { before, after: { priority: 2, version: 2, payload: { a: 1, b: 3 } } };
    expect(changedIn(entry, ["version"])).toEqual(["priority", "payload.b"]);
    expect(changedIn({ before: null, after: before }, [])).toEqual([]);
    const many = { before: {}, after: { a: 1, b: 1, c: 1, d: 1, e: 1 } };
    expect(changedIn(many, [])).toEqual(["a", "b", "c", "d", "…"]);
    expect(isOther({ resource_type: "task", resource_id: "7" }, { type: "task", id: 7 })).toBe(false);
    expect(isOther({ resource_type: "instance", resource_id: "7" }, { type: "task", id: 7 })).toBe(true);
  });
  it("is one list, newest first", () => {
    const at = (id: number, hour: number) => ({ id, occurred_at: `2026-11-15T0${hour}:00:00Z` });
    expect(newestFirst([at(1, 1), at(3, 3)], [at(2, 1)]).map(({ id }) => id)).toEqual([3, 2, 1]);
  });
});

describe("the search", () => {
  it("takes a number for an instance, and words in any order", () => {
    expect(instanceOf("#42")).toBe("42");
    expect(instanceOf("4x")).toBeNull();
    const offer = { key: "a", label: "Users and tokens", also: "access", go: { to: "/access" } };
    expect(matches(offer, "tok use")).toBe(true);
    expect(matches(offer, "access")).toBe(true);
    expect(matches(offer, "task")).toBe(false);
    expect(sections({ name: "a", offers: [] }, { name: "b", offers: [offer] })).toHaveLength(1);
  });
  it("keeps the newest visits, each once", () => {
    const visits = after(after(after([], { path: "/a", title: "A" }), { path: "/b", title: "B" }), {
      path: "/a",
      title: "A again",
    });
    expect(visits.map(({ title }) => title)).toEqual(["A again", "B"]);
  });
});

describe("a diagnosis", () => {
  const well = {
    process: { key: "fits", key_detail: "" },
    database: { read_only: false },
    store: { cycle_seconds: 1, groups: [{ group: "default", due: 3, executors: 1, oldest_due_seconds: 2 }] },
  };
  const told = (change: object) =>
    worriesOf({ ...well, ...change } as unknown as Parameters<typeof worriesOf>[0]).map(({ text }) => text);
  it("tells nothing when all is well", () => {
    expect(told({})).toEqual([]);
  });
  it("tells what is grave first", () => {
    expect(
      told({
        database: { read_only: true },
        store: {
          ...well.store,
          cycle_seconds: null,
          resting: [{ group: null, reason: "move" }],
          groups: [{ group: "default", due: 3, executors: 0 }],
        },
      }),
    ).toEqual(["worry.readOnly", "worry.noScheduler", "worry.noExecutor", "worry.allRests"]);
  });
});
