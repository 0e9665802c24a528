// A stream is a connection of its own, and a browser has six to a server for all its tabs: only tabs that are seen keep one.
const PATIENCE = 10_000;

/** Open now and whenever the tab is seen again, close a while after it is hidden; the answer closes for good. */
export function whileSeen(open: () => void, close: () => void): () => void {
  let closing: ReturnType<typeof setTimeout> | undefined;
  let isOpen = true;

  function changed() {
    clearTimeout(closing);
    if (document.hidden) {
      closing = setTimeout(() => {
        isOpen = false;
        close();
      }, PATIENCE);
    } else if (!isOpen) {
      isOpen = true;
      open();
    }
  }

  document.addEventListener("visibilitychange", changed);
  open();
  return () => {
    document.removeEventListener("visibilitychange", changed);
    clearTimeout(closing);
    close();
  };
}
