// A part of the page with a heading.
import { useId, type ReactNode } from "react";

type Props = { title: string; aside?: ReactNode; children: ReactNode };

export function Panel({ title, aside, children }: Props) {
  const id = useId();
  return (
    <section className="task-panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
