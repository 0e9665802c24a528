const files = import.meta.glob<Record<string, unknown>>("./en/*.json", { eager: true, import: "default" });

export const words = Object.fromEntries(
  Object.entries(files).map(([path, texts]) => [path.slice("./en/".length, -".json".length), texts]),
);
