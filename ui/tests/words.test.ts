// Both languages say everything, nothing is said that nobody asks for, and nothing is asked for that nobody says.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

const SOURCE = join(import.meta.dirname, "..", "src");
type Language = "en" | "zh";
type Texts = { [key: string]: string | Texts };
const PLURALS = /_(zero|one|two|few|many|other)$/;

function texts(language: Language): Map<string, string> {
  const folder = join(SOURCE, "i18n", language);
  const all = new Map<string, string>();
  for (const file of readdirSync(folder)) {
    const page = file.replace(/\.json$/, "");
    flatten(JSON.parse(readFileSync(join(folder, file), "utf-8")) as Texts, `${page}:`, all);
  }
  return all;
}

function flatten(given: Texts, prefix: string, into: Map<string, string>) {
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === "string") into.set(prefix + key, value);
    else flatten(value, `${prefix}${key}.`, into);
  }
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf-8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
    .map((name) => join(folder, name));
}

/** What the code asks for: whole keys, and the beginnings of those that are put together. */
function asked(): { keys: Map<string, string>; beginnings: Map<string, string> } {
  const keys = new Map<string, string>();
  const beginnings = new Map<string, string>();
  for (const file of sources(SOURCE)) {
    const code = readFileSync(file, "utf-8");
    const page = /(?:useTranslation\(|TFunction<)"([\w-]+)"/.exec(code)?.[1] ?? "common"; // asked for, or handed down
    const whole = (key: string) => (key.includes(":") ? key : `${page}:${key}`);
    for (const [, key] of code.matchAll(/\bt\(\s*"([^"]+)"/g)) keys.set(whole(key ?? ""), file);
    for (const [, key] of code.matchAll(/\bt\(\s*`([^`$]+)\$\{/g)) beginnings.set(whole(key ?? ""), file);
    // Keys in tables are written whole, such as "refusal.gone", and marked by a comment: words of PAGE.
    const table = /words of ([\w-]+)/.exec(code)?.[1];
    if (table) for (const [, key] of code.matchAll(/: "([\w]+(?:\.[\w]+)+)"/g)) keys.set(`${table}:${key}`, file);
  }
  return { keys, beginnings };
}

const english = texts("en");
const chinese = texts("zh");
const bare = (key: string) => key.replace(PLURALS, "");
const holes = (text: string) => [...text.matchAll(/\{\{\s*(\w+)/g)].map(([, name]) => name ?? "").sort();

describe("words", () => {
  it("are the same in both languages", () => {
    const inEnglish = new Set([...english.keys()].map(bare));
    // The fields of operations are described by the server, in English.
    const inChinese = new Set([...chinese.keys()].filter((key) => !key.startsWith("fields:")).map(bare));
    expect([...inEnglish].filter((key) => !inChinese.has(key))).toEqual([]);
    expect([...inChinese].filter((key) => !inEnglish.has(key))).toEqual([]);
  });

  it("have the same holes to fill in both languages", () => {
    const wrong = [...chinese].filter(([key, text]) => {
      const other = english.get(key) ?? english.get(`${bare(key)}_other`) ?? english.get(bare(key));
      return other !== undefined && holes(other).join() !== holes(text).join();
    });
    expect(wrong).toEqual([]);
  });

  it("are there for whatever the pages ask", () => {
    const known = new Set([...english.keys()].map(bare));
    const { keys, beginnings } = asked();
    expect([...keys].filter(([key]) => !known.has(key))).toEqual([]);
    expect([...beginnings].filter(([start]) => ![...known].some((key) => key.startsWith(start)))).toEqual([]);
  });

  it("are all asked for", () => {
    const code = sources(SOURCE)
      .map((file) => readFileSync(file, "utf-8"))
      .join("\n");
    const { beginnings } = asked();
    const idle = [...new Set([...english.keys()].map(bare))].filter((key) => {
      const own = key.slice(key.indexOf(":") + 1);
      const quoted = [own, key].some((text) => code.includes(`"${text}"`));
      return !quoted && ![...beginnings.keys()].some((start) => key.startsWith(start));
    });
    expect(idle).toEqual([]);
  });

  it("are Chinese where they should be", () => {
    const same = [...chinese].filter(
      ([key, text]) => text === english.get(key) && /[a-z]{4,}/i.test(text.replace(/\{\{.*?\}\}/g, "")),
    );
    const meant = /^(UTC|Hourhand|English|JSON|cron|webhook|SQL)/i;
    expect(same.filter(([, text]) => !meant.test(text))).toEqual([]);
  });
});
