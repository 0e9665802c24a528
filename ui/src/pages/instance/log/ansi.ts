// Colours that programs write, as classes: the theme decides what they look like.
import Anser from "anser";

export type Span = { text: string; className: string };

const ESCAPE = /\u001b/;
const DECORATED = ["bold", "dim", "italic", "underline", "strikethrough", "reverse"];
/** The 16 names; of the other 240 and of true colours the nearest of them is taken, which every theme can show. */
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export function spansOf(text: string): Span[] {
  if (!ESCAPE.test(text)) return [{ text, className: "" }];
  return Anser.ansiToJson(text, { json: true, remove_empty: true, use_classes: true }).map((piece) => ({
    text: piece.content.replaceAll("\u001b", "\u241b"),
    className: [
      ...color(piece.fg, piece.fg_truecolor, "fg"),
      ...color(piece.bg, piece.bg_truecolor, "bg"),
      ...piece.decorations.filter((one) => DECORATED.includes(one)).map((one) => `ansi-${one}`),
    ].join(" "),
  }));
}

/** The text alone, to search and to copy. */
export function plainOf(text: string): string {
  return ESCAPE.test(text)
    ? spansOf(text)
        .map((span) => span.text)
        .join("")
    : text;
}

function color(name: string | null, exact: string | null, ground: "fg" | "bg"): string[] {
  if (!name) return [];
  const found = /^ansi-(?:bright-)?(\w+)$/.exec(name)?.[1] ?? "";
  if (NAMES.includes(found)) return [`ansi-${ground}-${found}`, ...(name.includes("bright") ? ["ansi-bright"] : [])];
  const palette = /^ansi-palette-(\d+)$/.exec(name)?.[1];
  const parts = palette === undefined ? rgbOf(exact) : ofPalette(Number(palette));
  return parts === null ? [] : [`ansi-${ground}-${nearest(parts)}`];
}

type Rgb = readonly [number, number, number];

function rgbOf(text: string | null): Rgb | null {
  const found = /(\d+)\D+(\d+)\D+(\d+)/.exec(text ?? "");
  return found === null ? null : [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Of the cube of 6 × 6 × 6, or the greys after it. */
function ofPalette(index: number): Rgb {
  if (index >= 232) return [8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10];
  const at = index - 16;
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}

function nearest([red, green, blue]: Rgb): string {
  const most = Math.max(red, green, blue);
  const strong = (part: number) => (most > 60 && part > most * 0.6 ? 1 : 0);
  return NAMES[strong(red) + 2 * strong(green) + 4 * strong(blue)] ?? "white";
}
