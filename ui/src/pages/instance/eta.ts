// How long it still takes: by its own progress where it tells some, else by how long it usually takes.
export type Eta = {
  /** 0 to 1; null when nothing is known. */
  fraction: number | null;
  /** Whose word the fraction is. */
  by: "progress" | "median" | null;
  /** Milliseconds; null when nobody can tell. */
  left: number | null;
  /** It takes longer than it usually does, by this many milliseconds. */
  over: number | null;
};

/** Too little of it is done to say how long the rest takes. */
const TOO_EARLY = 0.02;

export function etaOf(elapsed: number, progress: number | null, median: number | null): Eta {
  const over = median !== null && elapsed > median ? elapsed - median : null;
  if (progress !== null) {
    const fraction = Math.min(1, Math.max(0, progress));
    const left = fraction >= TOO_EARLY ? (elapsed * (1 - fraction)) / fraction : null;
    return { fraction, by: "progress", left: left ?? (median === null ? null : Math.max(0, median - elapsed)), over };
  }
  if (median === null || median <= 0) return { fraction: null, by: null, left: null, over: null };
  // What takes longer than usual is nearly done for an unknown time: never shown as done.
  return {
    fraction: Math.min(0.99, elapsed / median),
    by: "median",
    left: over === null ? median - elapsed : null,
    over,
  };
}
