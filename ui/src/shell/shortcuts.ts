// Keys: `/` searches, `g` and a letter goes to a page, `?` tells of them, and lists have theirs. Never while somebody types.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import type { PageEntry } from "./pages";
import { select, step } from "./rows";

const PATIENCE = 1_200;
const CHOSEN = ["checkbox", "radio", "button", "submit"];

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !CHOSEN.includes(target.type);
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Something lies over the page, and has the keys. */
function covered(): boolean {
  return [...document.querySelectorAll<HTMLElement>("[role='dialog']")].some((one) => one.offsetParent !== null);
}

type Acts = {
  /** Those that the caller may see: a key to another does nothing. */
  pages: readonly PageEntry[];
  search: () => void;
  help: () => void;
};

export function useShortcuts(acts: Acts): void {
  const navigate = useNavigate();
  const current = useRef(acts);
  useEffect(() => {
    current.current = acts;
  }, [acts]);

  useEffect(() => {
    let going = 0;
    function done(key: string): boolean {
      if (key === "/") current.current.search();
      else if (key === "?") current.current.help();
      else if (key === "j") return step(1);
      else if (key === "k") return step(-1);
      else if (key === "x") return select();
      else return false;
      return true;
    }
    function pressed(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || covered()) return;
      if (Date.now() - going <= PATIENCE) {
        going = 0;
        const page = current.current.pages.find((one) => one.key === event.key);
        if (page === undefined) return;
        event.preventDefault();
        void navigate({ to: page.path });
      } else if (event.key === "g") {
        going = Date.now();
      } else if (done(event.key)) {
        event.preventDefault();
      }
    }
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [navigate]);
}
