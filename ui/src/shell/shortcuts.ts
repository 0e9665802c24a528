// Keys: `/` searches, `g` and a letter goes to a page, `?` tells of them. Never while somebody types.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { PAGES } from "./pages";

const PATIENCE = 1_200;

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

export function useShortcuts({ search }: { search: () => void }): void {
  const navigate = useNavigate();
  const searching = useRef(search);
  useEffect(() => {
    searching.current = search;
  }, [search]);

  useEffect(() => {
    let going = 0;
    function pressed(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (event.key === "/" || event.key === "?") {
        event.preventDefault();
        searching.current();
        return;
      }
      if (event.key === "g" && Date.now() - going > PATIENCE) {
        going = Date.now();
        return;
      }
      if (Date.now() - going > PATIENCE) return;
      going = 0;
      const page = PAGES.find((one) => one.key === event.key);
      if (page === undefined) return;
      event.preventDefault();
      void navigate({ to: page.path });
    }
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [navigate]);
}
