// A data source as a form has it, and what of it is sent.
import type { components } from "../../api/schema";
import type { JsonSchema } from "../../parts/schema/shape";

export type Source = components["schemas"]["DataSourceOutput"];
export type Dialect = components["schemas"]["Dialect"];
export type Fields = {
  name: string;
  by: "url" | "fields";
  url: string;
  dialect: Dialect;
  host: string;
  port: number | null;
  database: string;
  username: string;
  password: string;
  /** Of one that has a password: whether to take it away. */
  forget: boolean;
  options: Record<string, unknown>;
  test: boolean;
};
type New = components["schemas"]["NewDataSource"];
type Edit = components["schemas"]["DataSourceEdit"];

export const PORTS: Partial<Record<Dialect, number>> = {
  postgresql: 5432,
  mariadb: 3306,
  mysql: 3306,
  sqlserver: 1433,
};

export function first(source: Source | null): Fields {
  return {
    name: source?.name ?? "",
    by: source === null ? "url" : "fields",
    url: "",
    dialect: source?.dialect ?? "postgresql",
    host: source?.host ?? "",
    port: source?.port ?? null,
    database: source?.database ?? "",
    username: source?.username ?? "",
    password: "",
    forget: false,
    options: source?.options ?? {},
    test: true,
  };
}

const text = (value: string) => (value.trim() === "" ? null : value.trim());

function place(fields: Fields): Omit<New, "name" | "test"> {
  const file = fields.dialect === "sqlite";
  return {
    dialect: fields.dialect,
    database: text(fields.database),
    host: file ? null : text(fields.host),
    port: file ? null : fields.port,
    username: file ? null : text(fields.username),
    options: fields.options,
  };
}

export function newOf(fields: Fields): New {
  const said = { name: fields.name.trim(), test: fields.test };
  const password = fields.password === "" ? {} : { password: fields.password };
  if (fields.by === "url") return { ...said, url: fields.url.trim() };
  const given = Object.entries(place(fields)).filter(([, value]) => value !== null && !isEmpty(value));
  return { ...said, ...Object.fromEntries(given), ...password };
}

/** Only what was changed: a password that is not typed is kept. */
export function editOf(source: Source, fields: Fields): Edit {
  const edit: Edit = { test: fields.test };
  if (fields.name.trim() !== source.name) edit.name = fields.name.trim();
  if (fields.by === "url") return { ...edit, url: fields.url.trim() };
  const known = place(first(source));
  const changes = Object.entries(place(fields)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(known[name as keyof typeof known]),
  );
  Object.assign(edit, Object.fromEntries(changes));
  if (fields.password !== "") edit.password = fields.password;
  else if (fields.forget) edit.password = null;
  return edit;
}

/** Whether the password is needed again: a kept one goes only to where it was given for. */
export function asksAgain(source: Source | null, fields: Partial<Fields>): boolean {
  if (!source?.has_password || fields.by === "url" || fields.password || fields.forget) return false;
  return (fields.host ?? "").trim() !== (source.host ?? "") || (fields.port ?? null) !== source.port;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

const path = { type: "string", examples: ["/etc/ssl/db-ca.pem"] };
const OPTIONS: Partial<Record<Dialect, JsonSchema>> = {
  postgresql: {
    type: "object",
    additionalProperties: false,
    properties: {
      sslmode: { enum: ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] },
      sslrootcert: path,
      sslcert: path,
      sslkey: path,
      search_path: { type: "string" },
      role: { type: "string" },
    },
  },
  mariadb: {
    type: "object",
    additionalProperties: false,
    properties: { ssl: { type: "boolean" }, ssl_ca: path, unix_socket: { type: "string" } },
  },
};

/** What options a dialect has, or null for none. */
export function optionsOf(dialect: Dialect): JsonSchema | null {
  return OPTIONS[dialect === "mysql" ? "mariadb" : dialect] ?? null;
}
