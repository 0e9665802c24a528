// The one way to the server: typed by its own document, with the session's token against forgery.
import createClient, { type Middleware } from "openapi-fetch";

import type { paths } from "./schema";
import { Refusal, type ProblemBody } from "./refusal";

let csrf: string | null = null;
let who: string | null = null;
let onSignedOut: () => void = () => undefined;
let onOtherSession: () => void = () => undefined;

/** Who we are, and what a request that changes something must show; both come with the answer to "who am I". */
export function rememberSession(session: { csrf_token: string | null; id: string } | null): void {
  csrf = session?.csrf_token ?? null;
  who = session?.id ?? null;
}

/** What to do when the server no longer knows us. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

/** What to do when another tab has signed in anew, maybe as somebody else. */
export function whenOtherSession(act: () => void): void {
  onOtherSession = act;
}

function showToken(request: Request): void {
  if (csrf !== null) request.headers.set("X-CSRF-Token", csrf);
}

/** Asked beside `client`, whose own refusals lead here. `fetch` is looked up at each call, so that a page can be tested. */
const askWho = () => globalThis.fetch("/api/v1/sessions/current").catch(() => null);

/** Ask whether we are still signed in: whoever is not is led to sign in. A server that is away says nothing about it. */
export async function checkSession(): Promise<boolean> {
  const response = await askWho();
  if (response?.status !== 401) return true;
  onSignedOut();
  return false;
}

/**
 * The token belongs to the session, and another tab may have signed in anew: tell whether there is another token of ours
 * now. What was meant by one is never done in the name of another.
 */
async function findNewToken(): Promise<boolean> {
  const response = await askWho();
  if (!response?.ok) return false;
  const found = (await response.json()) as { csrf_token: string | null; id: string };
  if (found.csrf_token === csrf) return false;
  const same = found.id === who;
  rememberSession(found);
  onOtherSession();
  return same;
}

async function send(request: Request): Promise<Response> {
  const spare = request.method === "GET" || csrf === null ? null : request.clone();
  const response = await globalThis.fetch(request);
  if (spare === null || response.status !== 403 || !(await findNewToken())) return response;
  showToken(spare);
  return globalThis.fetch(spare);
}

const session: Middleware = {
  onRequest({ request }) {
    showToken(request);
    return request;
  },
  onResponse({ request, response }) {
    // Signing in with a wrong password is a 401 as well, and is told by the form.
    if (response.status === 401 && !new URL(request.url).pathname.startsWith("/api/v1/sessions")) {
      onSignedOut();
    }
  },
};

export const client = createClient<paths>({ fetch: send });
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
