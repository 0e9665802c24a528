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
  /** Nothing has come yet. */
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
      {waiting && !refusal ? <Skeleton active title={false} paragraph={{ rows: 4 }} /> : children}
    </section>
  );
}
