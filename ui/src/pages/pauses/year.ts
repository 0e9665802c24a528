// A year as months of weeks, Monday first.
export type DayCell = { date: string; number: number } | null;
export type Month = { first: Date; weeks: DayCell[][] };

export function monthsOf(year: number): Month[] {
  return Array.from({ length: 12 }, (_, month) => monthOf(year, month));
}

function monthOf(year: number, month: number): Month {
  const first = new Date(Date.UTC(year, month, 1));
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const before = (first.getUTCDay() + 6) % 7;
  const cells: DayCell[] = [
    ...Array.from({ length: before }, () => null),
    ...Array.from({ length }, (_, day) => ({
      date: new Date(Date.UTC(year, month, day + 1)).toISOString().slice(0, 10),
      number: day + 1,
    })),
  ];
  while (cells.length % 7 !== 0) cells.push(null);
  return { first, weeks: Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7)) };
}
