// What the sign-in page reads from its address: where to go on to, and a token that must not stay there.

/** A place of this server only: an address that leads elsewhere, or back here, becomes the first page. */
export function placeAfter(next: string | undefined, origin: string): string {
  if (!next?.startsWith("/")) return "/";
  let wanted: URL;
  try {
    wanted = new URL(next, origin);
  } catch {
    return "/";
  }
  // "//host", "/\host" and the like are other hosts to a browser, however they are written.
  const elsewhere = wanted.origin !== origin || wanted.pathname.startsWith("//");
  if (elsewhere || wanted.pathname === "/sign-in") return "/";
  return wanted.pathname + wanted.search + wanted.hash;
}

export function tokenOf(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token") || null;
}

/** Take the token out of the address, and so out of the browser's history, before anything else happens. */
export function takeToken(): string | null {
  const token = tokenOf(window.location.hash);
  if (token !== null) {
    window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
  }
  return token;
}
