// The timeline of the fleet's incidents (fleet/hosts/timeline.go), and where its bars are.
import { clock, lasted } from './board';

export interface Past {
  start: string;
  end?: string; // none: it goes on
  began: number; // by its host's clock, s since the epoch
}

export interface Row {
  host: string;
  suspect?: string; // none: no culprit was proved
  subject?: string;
  incidents: Past[]; // newest first
  left?: number;
}

export interface Timeline {
  from: string;
  to: string;
  step_seconds: number;
  seen: number[]; // hosts, of each step, oldest first
  affected: number[];
  rows: Row[];
  left?: number;
  warnings: string[];
}

/** Bar is a part of a strip, of 0 to 1. */
export interface Bar {
  x: number;
  width: number;
  title: string;
  going: boolean;
  href?: string | undefined; // none: its host's page is not known
}

const least = 1 / 300; // a short one is seen too

/** begin is when the store has the first of what is shown, ms since the epoch; null: it has nothing. */
export function begin(t: Timeline): number | null {
  const first = t.seen.findIndex((n) => n > 0);
  if (first < 0) return null;
  const to = Date.parse(t.to);
  // A step is named by its end.
  return Math.min(Math.max(Date.parse(t.from) + (first - 1) * 1000 * t.step_seconds, Date.parse(t.from)), to);
}

/** place is where a time is on the strips. */
function place(t: Timeline, at: number): number {
  const from = Date.parse(t.from);
  return Math.min(Math.max((at - from) / (Date.parse(t.to) - from), 0), 1);
}

/** bars are a row's incidents on its strip, oldest first. page is that of its host, which knows an incident by when it began. */
export function bars(r: Row, t: Timeline, now: string, page?: string): Bar[] {
  const out: Bar[] = [];
  for (const i of r.incidents) {
    const a = place(t, Date.parse(i.start));
    const b = i.end ? place(t, Date.parse(i.end)) : 1;
    const width = Math.max(b - a, least);
    const end = i.end ? `about ${lasted(i.start, i.end)}` : `goes on for ${lasted(i.start, now)}`;
    out.unshift({ x: Math.min(a, 1 - width), width, going: !i.end, title: `${clock(i.start, now)}, ${end}`, href: page && `${page.replace(/\/$/, '')}/incident/at/${i.began}` });
  }
  return out;
}

/** gaps are the parts of the whole time of which no host sent anything: it is not known what was then. */
export function gaps(t: Timeline): { x: number; width: number }[] {
  const out: { x: number; width: number }[] = [];
  const at = (n: number) => place(t, Date.parse(t.from) + (n - 1) * 1000 * t.step_seconds);
  for (let n = 0; n < t.seen.length; n++) {
    if (t.seen[n] !== 0) continue;
    const first = n;
    while (n + 1 < t.seen.length && t.seen[n + 1] === 0) n++;
    const x = at(first);
    if (at(n + 1) > x) out.push({ x, width: at(n + 1) - x });
  }
  return out;
}

/** Level is how many hosts were affected in a step, of 0 to 1 of the most. */
export interface Level { x: number; width: number; height: number; title: string }

/** levels are the steps in which a host was affected, and the most that were at a time. */
export function levels(t: Timeline, now: string): { most: number; all: Level[] } {
  const most = Math.max(0, ...t.affected);
  const all: Level[] = [];
  t.affected.forEach((n, i) => {
    if (n === 0) return;
    const end = Date.parse(t.from) + i * 1000 * t.step_seconds;
    const x = place(t, end - 1000 * t.step_seconds);
    const seen = t.seen[i] ?? 0;
    all.push({ x, width: Math.max(place(t, end) - x, 1 / 1000), height: n / most, title: `${clock(new Date(end).toISOString(), now)}: ${n} of ${seen} ${seen === 1 ? 'host' : 'hosts'}` });
  });
  return { most, all };
}

/** Tick is a time on the axis. */
export interface Tick { x: number; text: string }

/** ticks are whole hours of UTC, some of them. */
export function ticks(t: Timeline): Tick[] {
  const from = Date.parse(t.from);
  const to = Date.parse(t.to);
  const hour = 3600e3;
  const every = [1, 2, 3, 4, 6].map((n) => n * hour).find((e) => (to - from) / e <= 6.5) ?? 6 * hour;
  const out: Tick[] = [];
  for (let at = Math.ceil(from / every) * every; at <= to; at += every) out.push({ x: place(t, at), text: new Date(at).toISOString().slice(11, 16) });
  return out;
}

/** when says how often a row's incident was, and how the last one was. */
export function when(r: Row, now: string): string {
  const last = r.incidents[0];
  if (!last) return '';
  const n = r.incidents.length + (r.left ?? 0);
  const times = n > 1 ? `${n} times, ` : '';
  return last.end ? `${times}${n > 1 ? 'last ' : ''}${clock(last.start, now)}, about ${lasted(last.start, last.end)}` : `${times}since ${clock(last.start, now)}`;
}
