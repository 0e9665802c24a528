import { describe, expect, it } from "vitest";

import { percentOf } from "../src/parts/percent";
import { PAGES } from "../src/shell/pages";
import { pagesOf } from "../src/shell/reached";

const names = (me: Parameters<typeof pagesOf>[0]) => pagesOf(me).map((page) => page.name);

describe("pages", () => {
  it("are those that the caller may see", () => {
    expect(names({ role: "admin", groups: null })).toEqual(PAGES.map((page) => page.name));
    expect(names({ role: "viewer", groups: null })).not.toContain("access");
    expect(names({ role: "viewer", groups: null })).toContain("alerts");
    expect(names({ role: "admin", groups: ["shop"] })).not.toContain("operations");
  });

  it("have a key each", () => {
    expect(new Set(PAGES.map((page) => page.key)).size).toBe(PAGES.length);
  });
});

describe("percents of what has not ended", () => {
  it("are less than all, however near the end it is", () => {
    expect(percentOf(0.999)).toBe(99);
    expect(percentOf(1)).toBe(99);
    expect(percentOf(0.125)).toBe(12);
    expect(percentOf(-1)).toBe(0);
  });
});
