// The table of streams, without a browser.
import type { StreamRow } from '../schema';
import { count } from './format';

/** StreamColumn is one column of the table: what it sorts by, and how a cell reads. */
export interface StreamColumn {
  name: string;
  title: string; // what it means
  number: boolean;
  by: (r: StreamRow) => string | number | null;
  text: (r: StreamRow) => string | null; // null is not measured
}

const signed = (v: number | null) => (v === null ? null : Math.abs(v) < 0.005 ? '0' : `${v > 0 ? '+' : '−'}${Math.abs(v).toFixed(Math.abs(v) < 10 ? 2 : 0)}`);
const plain = (v: number | null, digits: number) => (v === null ? null : v > 0 && v < 10 ? v.toFixed(digits).replace(/\.0+$/, '') : count(v));
const number = (name: string, title: string, by: (r: StreamRow) => number | null, text: (v: number | null) => string | null): StreamColumn => ({ name, title, number: true, by, text: (r) => text(by(r)) });
const words = (name: string, title: string, by: (r: StreamRow) => string): StreamColumn => ({ name, title, number: false, by, text: by });

export const streamColumns: StreamColumn[] = [
  { name: 'state', title: 'how it is at the end', number: false, by: (r) => r.rank, text: (r) => r.state },
  words('stream', 'its name', (r) => r.name),
  words('place', 'the layer, and whose connection was seen', (r) => [r.layer, r.side === 'player' ? '' : r.side].filter(Boolean).join(', ')),
  number('fps', 'frames per second, over the last five seconds', (r) => r.fps, (v) => plain(v, 1)),
  words('curve', 'frames per second over the whole time, the least of each column', (r) => r.spark),
  number('kb/s', 'kilobits per second of video and audio, over the last five seconds', (r) => r.kbps, (v) => plain(v, 1)),
  number('GOP s', 'key frame interval', (r) => r.gop, (v) => (v === null ? null : v.toFixed(1))),
  number('drift s', 'how much later than the least of the last minute a frame comes against its timestamp', (r) => r.drift, signed),
  number('A/V s', "audio's timestamp less the video's, at arrival", (r) => r.skew, signed),
  number('freezes', 'how often it froze', (r) => r.freezes, (v) => (v === null ? null : count(v))),
  number('frozen s', 'how long it was frozen, in all', (r) => r.frozen, (v) => (v === null ? null : v.toFixed(v < 100 && v > 0 ? 1 : 0))),
  words('protocol', 'how it is sent', (r) => r.protocol),
  words('codec', 'video and audio', (r) => [r.codec, r.size].filter(Boolean).join(' ')),
];

/** totals is how many streams are in which state, the worst first. */
export function totals(rows: StreamRow[], total: number): string {
  const by = new Map<string, { n: number; rank: number }>();
  for (const r of rows) {
    const was = by.get(r.state);
    by.set(r.state, { n: (was?.n ?? 0) + 1, rank: r.rank });
  }
  const states = [...by].sort((a, b) => a[1].rank - b[1].rank).map(([state, s]) => `${count(s.n)} ${state}`);
  const left = total - rows.length;
  return `${count(total)} ${total === 1 ? 'stream' : 'streams'}: ${[...states, ...(left > 0 ? [`${count(left)} left out`] : [])].join(', ')}`;
}

/** chosenRows are the rows that have every word of the text, sorted by a column; -1 is the order in which they stand. */
export function chosenRows(rows: StreamRow[], text: string, column: number, down: boolean): StreamRow[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = rows.filter((r) => {
    const all = [r.state, r.name, r.layer, r.side, r.protocol, r.url, r.codec, r.size, r.why, r.trouble].join(' ').toLowerCase();
    return wanted.every((w) => all.includes(w));
  });
  const by = streamColumns[column]?.by;
  if (!by) return kept;
  const sign = down ? -1 : 1;
  return [...kept].sort((a, b) => {
    const x = by(a);
    const y = by(b);
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    if (typeof x === 'number' && typeof y === 'number') return sign * (x - y);
    return sign * String(x).localeCompare(String(y), 'en', { numeric: true });
  });
}

/** sparkPaths is a curve as two paths: what came, and where nothing did. */
export function sparkPaths(spark: string, height: number): { some: string; none: string } {
  let some = '';
  let none = '';
  [...spark].forEach((c, i) => {
    if (c === ' ') return;
    if (c === '0') none += `M${i} ${height}v-5h1v5z`;
    else some += `M${i} ${height}v${(-height * Number(c)) / 9}h1V${height}z`;
  });
  return { some, none };
}
