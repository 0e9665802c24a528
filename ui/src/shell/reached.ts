// The pages that somebody may see: what the menu, the search, the shortcuts and their list all go by.
import { reaches, useMe, type Me } from "../state/session";
import { PAGES, type PageEntry } from "./pages";

export function pagesOf(me: Pick<Me, "role" | "groups">): PageEntry[] {
  return PAGES.filter((page) => reaches(me.role, page.least) && !(page.whole && me.groups !== null));
}

export function usePages(): PageEntry[] {
  return pagesOf(useMe());
}
