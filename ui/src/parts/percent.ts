/** Whole percents of what has not ended: rounded down, and less than all of it. */
export function percentOf(fraction: number): number {
  return Math.min(99, Math.max(0, Math.floor(fraction * 100)));
}
