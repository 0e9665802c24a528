// A link to another page that costs no more than an anchor. The router's own Link listens to every change of the address,
// which is felt where a screen has a hundred of them; a click on this one is heard once, by the shell (`useGoto`).
import { useRouter } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";

type Props = { href: string; className?: string; title?: string; children: ReactNode };

export function Goto({ href, className, title, children }: Props) {
  return (
    <a href={href} data-goto="" className={className} title={title}>
      {children}
    </a>
  );
}

export function useGoto(): void {
  const router = useRouter();
  useEffect(() => {
    function clicked(event: MouseEvent) {
      // With a key held down, or the middle button, the browser opens another tab by itself.
      const meant = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-goto]") : null;
      if (!meant || link === null || event.defaultPrevented) return;
      event.preventDefault();
      router.history.push(link.pathname + link.search);
    }
    document.addEventListener("click", clicked);
    return () => document.removeEventListener("click", clicked);
  }, [router]);
}
