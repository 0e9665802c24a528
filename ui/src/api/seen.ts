// A stream is a connection of its own, and a browser has six to a server for all its tabs: only tabs that are seen keep one.
const PATIENCE = 10_000;

/**
 * Open when the tab is seen, and close a while after it is hidden; the answer closes for good. A tab that was opened
 * behind another one waits until somebody looks: whoever opens ten failures in tabs has ten of them.
 */
export function whileSeen(open: () => void, close: () => void): () => void {
  let closing: ReturnType<typeof setTimeout> | undefined;
  let isOpen = !document.hidden;

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
  if (isOpen) open();
  return () => {
    document.removeEventListener("visibilitychange", changed);
    clearTimeout(closing);
    close();
  };
}
