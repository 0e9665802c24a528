// Every zone there is, and how it is found: by name, by offset, by what its time is called.
let zones: string[] | undefined;

/** All zones that the browser knows, UTC first. */
export function allZones(): string[] {
  zones ??= ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
  return zones;
}

/** "UTC+8", as it is at an instant; nothing for a zone that the browser does not know. */
export function offsetOf(zone: string, at: Date): string {
  return named(zone, "shortOffset", "en-US", at).replace("GMT", "UTC");
}

/** "China Time", 中国时间. */
export function callOf(zone: string, language: string, at: Date): string {
  const name = named(zone, "longGeneric", language, at);
  return name.startsWith("GMT") ? "" : name;
}

function named(zone: string, form: "shortOffset" | "longGeneric", language: string, at: Date): string {
  try {
    const format = new Intl.DateTimeFormat(language, { timeZone: zone, timeZoneName: form });
    return format.formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "";
  } catch {
    return "";
  }
}

/** All words typed, in any order: "asia +8", "new york", "中国". */
export function matches(typed: string, told: string): boolean {
  const text = told.toLowerCase();
  return typed
    .toLowerCase()
    .split(/[\s_]+/)
    .every((word) => text.includes(word));
}
