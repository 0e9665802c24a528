// A command line and the words it stands for: split by a shell's quoting rules, without a shell, as the CLI does it.
export type Split =
  | { words: string[] }
  | { fault: "empty" | "quotes" }
  /** `sign` is what only a shell would understand. */
  | { fault: "syntax" | "assignment"; sign: string };

const PLACE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/y;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
const SYNTAX = "|&;<>*?()\n";
/** A shell expands these between double quotes too. */
const EXPANSION = "$`";

export function splitCommand(text: string): Split {
  // Passed on as an argument, a `|` would be a surprise when the task runs: it is told while it is written.
  const sign = shellSyntax(text);
  if (sign !== null) return { fault: "syntax", sign };
  const words = wordsOf(text);
  if (words === null) return { fault: "quotes" };
  const program = words[0] ?? "";
  if (program === "") return { fault: "empty" };
  const assigned = ASSIGNMENT.exec(program);
  return assigned === null ? { words } : { fault: "assignment", sign: assigned[0] };
}

/** The line that splits into these words; `${name}` stays as it is, since it is filled before anything is executed. */
export function joinCommand(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

export function quoted(word: string): string {
  if (/^(?:[\w@%+=:,./-]|\$\{[A-Za-z_][A-Za-z0-9_]*\})+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The first sign that a shell would not take literally. */
function shellSyntax(text: string): string | null {
  let quote = "";
  let begins = true;
  let at = 0;
  while (at < text.length) {
    const sign = text.charAt(at);
    const next = text.charAt(at + 1);
    // A shell drops this backslash, what splits here would keep it.
    if (sign === "\\" && quote === '"' && next !== "" && EXPANSION.includes(next)) return sign + next;
    PLACE.lastIndex = at;
    const step = sign === "\\" && quote !== "'" ? 2 : (PLACE.exec(text)?.[0].length ?? 0);
    if (step > 0) {
      at += step;
      begins = false;
      continue;
    }
    if (sign === quote) quote = "";
    else if (quote === "" && (sign === "'" || sign === '"')) quote = sign;
    else if (meantForShell(sign, quote, begins)) return sign;
    begins = quote === "" && /\s/.test(sign);
    at += 1;
  }
  return null;
}

function meantForShell(sign: string, quote: string, begins: boolean): boolean {
  if (quote !== "") return quote === '"' && EXPANSION.includes(sign);
  return EXPANSION.includes(sign) || SYNTAX.includes(sign) || (sign === "~" && begins);
}

/** Null when a quote is not closed, or nothing follows a backslash. */
function wordsOf(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    const next = text.charAt(at + 1);
    const escapes = sign === "\\" && (quote === "" || (quote === '"' && (next === '"' || next === "\\")));
    if (escapes) {
      if (next === "") return null;
      word = (word ?? "") + next;
      at += 1;
    } else if (sign === quote) quote = "";
    else if (quote === "" && (sign === "'" || sign === '"')) {
      quote = sign;
      word ??= "";
    } else if (quote === "" && /[ \t\r\n]/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + sign;
  }
  if (quote !== "") return null;
  return word === null ? words : [...words, word];
}
