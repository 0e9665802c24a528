// Kinds of operations as the gallery orders them. A kind of another package has a number of its own, and no words here.
import type { components } from "../../api/schema";

export type Kind = components["schemas"]["Kind"];
export type GroupName = "partitions" | "archive" | "cleanup" | "upkeep" | "own" | "added";

/** Where a group of numbers ends; what lies beyond the last was added by another package. */
const GROUPS: readonly (readonly [number, GroupName])[] = [
  [30, "partitions"],
  [50, "archive"],
  [70, "cleanup"],
  [90, "upkeep"],
  [100, "own"],
];

export function groupOf(number: number | null | undefined): GroupName {
  return GROUPS.find(([end]) => typeof number === "number" && number < end)?.[1] ?? "added";
}

export type Shown = { kind: Kind; title: string; about: string };

/** Those that have every word of the search somewhere, by number, in their groups; empty groups are left out. */
export function grouped(kinds: readonly Shown[], search: string): { name: GroupName; kinds: Shown[] }[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = kinds
    .filter(({ kind, title, about }) => {
      const text = `${kind.name} ${kind.title ?? ""} ${kind.description} ${title} ${about}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((one, other) => (one.kind.number ?? Infinity) - (other.kind.number ?? Infinity));
  const names: GroupName[] = [...GROUPS.map(([, name]) => name), "added"];
  return names
    .map((name) => ({ name, kinds: found.filter(({ kind }) => groupOf(kind.number) === name) }))
    .filter((group) => group.kinds.length > 0);
}

export const DIALECTS = {
  postgresql: "PostgreSQL",
  mariadb: "MariaDB",
  mysql: "MySQL",
  sqlite: "SQLite",
  sqlserver: "SQL Server",
} as const;

export type Dialect = keyof typeof DIALECTS;
