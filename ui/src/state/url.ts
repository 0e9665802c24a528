// Filters live in the address: what is seen can be sent to somebody, and going back goes back.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

export type Filters = Record<string, string>;

/** What the address asks for, and how to change it; an empty value leaves. */
export function useFilters(): [Filters, (change: Record<string, string | null | undefined>) => void] {
  const search: Filters = useSearch({ strict: false });
  const navigate = useNavigate();
  // One function for good: who hands it to a thousand rows must not draw them anew for it.
  const change = useCallback(
    (next: Record<string, string | null | undefined>) => {
      // By what the address is then, not by what it was when this was drawn: two changes in a row must both hold.
      const merged = (now: Filters) =>
        Object.fromEntries(
          Object.entries({ ...now, ...next }).filter((entry): entry is [string, string] => Boolean(entry[1])),
        );
      // Who filters stays where they are: what was scrolled meanwhile must not be put back.
      void navigate({ to: ".", search: merged as never, replace: true, resetScroll: false });
    },
    [navigate],
  );
  return [search, change];
}

/** The number in an address; null for what is none, where no server need be asked. */
export function idOf(text: string | undefined): number | null {
  return /^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : null;
}

/** Every parameter is a text; what each page makes of it is its own affair. */
export function readSearch(text: string): Filters {
  return Object.fromEntries(new URLSearchParams(text));
}

export function writeSearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
