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

/** Cities that are not the name of their zone, or that people write in their own script. */
const CITIES: Record<string, string> = {
  "Asia/Shanghai": "上海 北京 深圳 广州 Beijing Shenzhen",
  "Asia/Hong_Kong": "香港",
  "Asia/Macau": "澳门",
  "Asia/Taipei": "台北",
  "Asia/Tokyo": "东京 大阪 Osaka",
  "Asia/Seoul": "首尔",
  "Asia/Singapore": "新加坡",
  "Asia/Bangkok": "曼谷",
  "Asia/Dubai": "迪拜",
  "Asia/Kolkata": "孟买 德里 班加罗尔 Mumbai Delhi Bangalore",
  "Asia/Calcutta": "孟买 德里 班加罗尔 Mumbai Delhi Bangalore",
  "Europe/London": "伦敦",
  "Europe/Paris": "巴黎",
  "Europe/Berlin": "柏林 法兰克福 慕尼黑 Frankfurt Munich",
  "Europe/Moscow": "莫斯科",
  "America/New_York": "纽约 华盛顿 波士顿 Washington Boston",
  "America/Chicago": "芝加哥 达拉斯 Dallas",
  "America/Los_Angeles": "洛杉矶 旧金山 西雅图 San Francisco Seattle",
  "America/Sao_Paulo": "圣保罗",
  "Australia/Sydney": "悉尼",
};

export function citiesOf(zone: string): string {
  return CITIES[zone] ?? "";
}

/** All words typed, in any order: "asia +8", "new york", "中国", "上海". */
export function matches(typed: string, told: string): boolean {
  const text = told.toLowerCase();
  return typed
    .toLowerCase()
    .split(/[\s_]+/)
    .every((word) => text.includes(word));
}
