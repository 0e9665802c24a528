// Another tab may have signed in anew: what this one does is asked once more with the token of the session there is now.
import { afterEach, expect, it, vi } from "vitest";

import { answer, client, rememberSession, whenOtherSession } from "../src/api/client";

afterEach(() => {
  vi.unstubAllGlobals();
  rememberSession(null);
});

/** A server that knows one token, and what it was asked. */
function server(token: string, refuses = false) {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (input: Request | string) => {
    const request = typeof input === "string" ? null : input;
    asked.push(request === null ? `GET ${input as string}` : `${request.method} ${await request.text()}`);
    const json = (status: number, body: unknown) => Response.json(body, { status });
    if (request === null) return json(200, { csrf_token: token, id: "user:1" });
    if (request.headers.get("X-CSRF-Token") !== token || refuses)
      return json(403, { title: "forbidden", detail: "no" });
    return json(200, {});
  });
  return asked;
}

// Node's Request wants a whole address; a page has one of its own.
const pause = () =>
  answer(
    client.POST("/api/v1/pauses", { baseUrl: "http://127.0.0.1", body: { scope: "all", reason: "upgrade" } as never }),
  );

it("asks once more, with all it said, when the session is another now", async () => {
  const asked = server("new");
  let told = 0;
  whenOtherSession(() => (told += 1));
  rememberSession({ csrf_token: "old", id: "user:1" });
  await pause();
  expect(asked.map((one) => one.split(" ")[0])).toEqual(["POST", "GET", "POST"]);
  expect(asked[2]).toBe(asked[0]);
  expect(told).toBe(1);
  await pause();
  expect(asked).toHaveLength(4);
});

it("takes a refusal for one when the session is the same", async () => {
  const asked = server("same", true);
  rememberSession({ csrf_token: "same", id: "user:1" });
  await expect(pause()).rejects.toThrow("no");
  expect(asked).toHaveLength(2);
});

it("does nothing in the name of somebody else", async () => {
  const asked = server("new");
  rememberSession({ csrf_token: "old", id: "user:2" });
  await expect(pause()).rejects.toThrow("no");
  expect(asked).toHaveLength(2);
  await pause(); // now it is known whose name it is
  expect(asked).toHaveLength(3);
});
