import { expect, it } from "vitest";

import { BY_A_CLOCK, paceOf } from "../src/api/topics";

it("is seldom asked for a month by a zone's clock, which may be added up from minutes", () => {
  const series = "/api/v1/stats/series";
  expect(paceOf([series, { query: { step: "1h", timezone: "Asia/Kolkata" } }])).toBe(BY_A_CLOCK);
  expect(paceOf([series, { query: { step: "1m" } }])).toBeLessThan(BY_A_CLOCK);
  expect(paceOf([series])).toBeLessThan(BY_A_CLOCK);
});
