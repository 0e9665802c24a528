// A part of the landing page: a heading, perhaps a way to all of it, and its rows.
import { Skeleton } from "antd";
import type { ReactNode } from "react";

import type { Refusal } from "../../api/refusal";
import { Refused } from "../../parts/Refused";

type Props = {
  title: string;
  more?: ReactNode;
  refusal?: Refusal | null;
  /** Nothing has come yet. */
  waiting?: boolean;
  children: ReactNode;
};

export function Panel({ title, more, refusal, waiting = false, children }: Props) {
  return (
    <section className="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {more}
      </header>
      <Refused refusal={refusal} />
      {waiting && !refusal ? <Skeleton active title={false} paragraph={{ rows: 4 }} /> : children}
    </section>
  );
}
