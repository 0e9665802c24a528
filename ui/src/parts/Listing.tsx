// The frame of a list that comes page by page: why it is not there, its rows, and the way to more of them.
import { Table, type TableProps } from "antd";
import type { ReactNode } from "react";

import type { Paged } from "../api/paged";
import { labelled } from "./cards";
import { More } from "./More";
import { Refused } from "./Refused";

type Props<One> = {
  list: Paged<One>;
  columns: NonNullable<TableProps<One>["columns"]>;
  /** Narrower than this, the rows become cards. */
  width: number;
  /** What an empty list says. */
  none: string;
  /** The rows to show, where that is not all of them. */
  rows?: One[];
  rowClassName?: (one: One) => string;
  /** Cards name what is in them, unless it reads as a sentence anyway. */
  named?: boolean;
  /** In place of the button for the next page. */
  foot?: ReactNode;
};

export function Listing<One extends { id: number }>({
  list,
  columns,
  width,
  none,
  rows,
  rowClassName,
  named = true,
  foot,
}: Props<One>) {
  return (
    <>
      <Refused refusal={list.refusal} again={list.again} />
      <Table<One>
        className="cards"
        size="small"
        rowKey="id"
        columns={named ? labelled(columns) : columns}
        dataSource={rows ?? list.items}
        loading={list.first}
        pagination={false}
        scroll={{ x: width }}
        locale={{ emptyText: none }}
        rowClassName={rowClassName}
      />
      {foot ?? <More list={list} />}
    </>
  );
}
