// The one way to the server: typed by its own document, with the session's token against forgery.
import createClient, { type Middleware } from "openapi-fetch";

import type { paths } from "./schema";
import { Refusal, type ProblemBody } from "./refusal";

let csrf: string | null = null;
let onSignedOut: () => void = () => undefined;

/** What a request that changes something must show; it comes with the answer to "who am I". */
export function rememberCsrf(token: string | null): void {
  csrf = token;
}

/** What to do when the server no longer knows us. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

/** The token for requests that are not made by `client`, such as uploads. */
export function csrfHeaders(): Record<string, string> {
  return csrf === null ? {} : { "X-CSRF-Token": csrf };
}

const session: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(csrfHeaders())) {
      request.headers.set(name, value);
    }
    return request;
  },
  onResponse({ request, response }) {
    // Signing in with a wrong password is a 401 as well, and is told by the form.
    if (response.status === 401 && !new URL(request.url).pathname.startsWith("/api/v1/sessions")) {
      onSignedOut();
    }
  },
};

// Looked up at each call, so that a page can be tested with another `fetch`.
export const client = createClient<paths>({ fetch: (request: Request) => globalThis.fetch(request) });
client.use(session);

type Answered<Data> = { data?: Data; error?: unknown; response: Response };

/** Give what came, or throw the refusal; a server that is not there is a refusal too. */
export async function answer<Data>(asked: Promise<Answered<Data>>): Promise<Exclude<Data, undefined>> {
  let got: Answered<Data>;
  try {
    got = await asked;
  } catch (reason) {
    if (reason instanceof DOMException && reason.name === "AbortError") throw reason;
    throw Refusal.unreachable();
  }
  if (!got.response.ok) {
    throw Refusal.from(got.response.status, got.error as ProblemBody | string | undefined);
  }
  return got.data as Exclude<Data, undefined>;
}
