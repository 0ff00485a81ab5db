const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Minutes ahead of UTC. */
const ZONES: Readonly<Record<string, number>> = {
  CET: 60,
  CEST: 120,
  EET: 120,
  EEST: 180,
  BST: 60,
  EST: -300,
  EDT: -240,
};

const DATE = String.raw`(?:(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})|(?<dayOf>\d{1,2})\.? (?<name>[A-Z][a-z]+),? (?<yearOf>\d{4}))`;
const CLOCK = String.raw`(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)(?::[0-5]\d)?`;
const ZONE = String.raw`(?<zone>\s?Z|\s?UTC|\s?GMT|\s?[+-]\d{2}:\d{2}|\s(?:${Object.keys(ZONES).join('|')}))?`;
const TIME = new RegExp(`(?:${DATE}(?:T|,? (?:at )?))?${CLOCK}${ZONE}`, 'g');

/**
 * Milliseconds since 1970 of every time in a text. A time without a date is on the day of the one before it, one without
 * a zone in UTC.
 *
 * @param day the day (UTC midnight, in milliseconds) of a first time that has no date; null where there is none.
 */
export function timesIn(text: string, day: number | null = null): number[] {
  const times: number[] = [];
  let date = day;
  for (const { groups } of text.matchAll(TIME)) {
    if (!groups) continue;
    date = dateOf(groups) ?? date;
    if (date === null) continue;
    const minutes = Number(groups['hour']) * 60 + Number(groups['minute']) - offsetOf(groups['zone']?.trim());
    times.push(date + minutes * 60_000);
  }
  return times;
}

export const dayOf = (time: number): number => Math.floor(time / 86_400_000) * 86_400_000;

/** `2026-03-11 14:02 UTC` */
export const format = (time: number): string => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function dateOf(groups: Record<string, string | undefined>): number | null {
  const { year, month, day, name, dayOf: dayText, yearOf } = groups;
  if (year) return Date.UTC(Number(year), Number(month) - 1, Number(day));
  const index = MONTHS.indexOf((name ?? '').slice(0, 3).toLowerCase());
  return index < 0 ? null : Date.UTC(Number(yearOf), index, Number(dayText));
}

function offsetOf(zone: string | undefined): number {
  const hours = zone?.match(/^([+-])(\d{2}):(\d{2})$/);
  if (!hours) return ZONES[zone ?? ''] ?? 0;
  return (hours[1] === '-' ? -1 : 1) * (Number(hours[2]) * 60 + Number(hours[3]));
}
