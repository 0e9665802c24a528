import "dayjs/locale/zh-cn"; // the days and months of calendars

const files = import.meta.glob<Record<string, unknown>>("./zh/*.json", { eager: true, import: "default" });

export const words = Object.fromEntries(
  Object.entries(files).map(([path, texts]) => [path.slice("./zh/".length, -".json".length), texts]),
);
