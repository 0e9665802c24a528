// What the search offers, in groups and in order; pure, so that it can be tested.
export type Place = { to: string; search?: Record<string, string> };
export type Offer = {
  key: string;
  label: string;
  hint?: string;
  /** Also found by these, such as the word of the other language. */
  also?: string;
  go: Place | (() => void);
};
export type Section = { name: string; offers: Offer[] };

export function matches(offer: Offer, wanted: string): boolean {
  const text = `${offer.label} ${offer.also ?? ""}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** An instance's number, with or without its mark; null for any other text. */
export function instanceOf(wanted: string): string | null {
  return /^#?(\d{1,18})$/.exec(wanted)?.[1] ?? null;
}

/** Leave out what is empty. */
export function sections(...all: Section[]): Section[] {
  return all.filter((section) => section.offers.length > 0);
}
