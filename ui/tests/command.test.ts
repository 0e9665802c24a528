import { describe, expect, it } from "vitest";

import { joinCommand, splitCommand } from "../src/parts/schema/command";

describe("a command line", () => {
  it("is split as a shell would, without one", () => {
    expect(splitCommand("echo books")).toEqual({ words: ["echo", "books"] });
    expect(splitCommand("  tar  -C '/my files' \"a b\"c d\\ e '' ")).toEqual({
      words: ["tar", "-C", "/my files", "a bc", "d e", ""],
    });
    expect(splitCommand(String.raw`say "a \"b\" \n \\"`)).toEqual({ words: ["say", String.raw`a "b" \n ` + "\\"] });
    expect(splitCommand("close --day ${day} '*.csv' a~b a#b")).toEqual({
      words: ["close", "--day", "${day}", "*.csv", "a~b", "a#b"],
    });
  });

  it("names what only a shell understands", () => {
    for (const [line, sign] of [
      ["a | b", "|"],
      ["a && b", "&"],
      ["ls *.csv", "*"],
      ["echo $HOME", "$"],
      ['echo "`date`"', "`"],
      ['echo "\\$x"', "\\$"],
      ["ls ~/x", "~"],
      ["a\nb", "\n"],
    ] as const) {
      expect(splitCommand(line)).toEqual({ fault: "syntax", sign });
    }
    expect(splitCommand("LANG=C sort")).toEqual({ fault: "assignment", sign: "LANG=" });
  });

  it("refuses what has no words", () => {
    expect(splitCommand("echo 'a")).toEqual({ fault: "quotes" });
    expect(splitCommand("echo \\")).toEqual({ fault: "quotes" });
    expect(splitCommand("'' a")).toEqual({ fault: "empty" });
    expect(splitCommand(" ")).toEqual({ fault: "empty" });
  });

  it("comes back as it was written", () => {
    for (const words of [
      ["echo", "books"],
      ["sh", "-c", 'a | b; echo "it\'s" $HOME'],
      ["close", "--day=${day}", "", "a b", "back\\slash", "new\nline", "~", "${not a place}"],
    ]) {
      expect(splitCommand(joinCommand(words))).toEqual({ words });
    }
    expect(joinCommand(["close", "--day", "${day}"])).toBe("close --day ${day}");
  });
});
