// A part of a page: a heading, perhaps a way to all of it, and what it has to say.
import { Skeleton } from "antd";
import { useId, type ReactNode } from "react";

import type { Refusal } from "../api/refusal";
import { Refused } from "./Refused";

type Props = {
  title: string;
  /** Beside the heading. */
  aside?: ReactNode;
  refusal?: Refusal | null;
  /** Nothing has come yet: whether there is something, nobody knows, and least of all when it was refused. */
  waiting?: boolean;
  /** With a frame around it. */
  boxed?: boolean;
  children: ReactNode;
};

export function Panel({ title, aside, refusal, waiting = false, boxed = false, children }: Props) {
  const id = useId();
  return (
    <section className={boxed ? "panel panel-box" : "panel"} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      <Refused refusal={refusal} />
      {!waiting ? children : !refusal && <Skeleton active title={false} paragraph={{ rows: 4 }} />}
    </section>
  );
}
