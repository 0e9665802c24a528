// Rows that become cards where there is no room for columns keep the names of their columns.
import type { TableColumnsType } from "antd";

/** The first column says what the row is about; what follows it is named, such as two times beside each other. */
export function labelled<One>(columns: TableColumnsType<One>): TableColumnsType<One> {
  return columns.map((column, index) => {
    if (index === 0 || typeof column.title !== "string" || column.onCell !== undefined) return column;
    const cell = { "data-label": column.title } as object;
    return { ...column, onCell: () => cell };
  });
}
