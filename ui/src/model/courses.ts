// What is drawn of an opened stream.
import type { StreamDetail, StreamFigure } from '../schema';

/** Quantity is one chart of an opened stream: its figures by name, what they mean. */
export interface Quantity {
  title: string;
  about: string;
  unit: string;
  names: { name: StreamFigure['name']; label: string }[];
  least?: number; // the axis goes to this at the least
}

export const quantities: Quantity[] = [
  { title: 'Arrival against DTS', about: 'later than the least of the last minute; and how far the timestamps are ahead of the clock', unit: 's', names: [{ name: 'late', label: 'late' }, { name: 'clock', label: 'ahead' }], least: 0.2 },
  { title: 'Frames per second', about: 'by arrival; HLS by timestamps', unit: 'fps', names: [{ name: 'fps', label: '' }] },
  { title: 'Gap', about: 'the longest time without a frame', unit: 's', names: [{ name: 'gap', label: '' }], least: 0.2 },
  { title: 'Bit rate', about: 'of the elementary streams', unit: 'kb/s', names: [{ name: 'video', label: 'video' }, { name: 'audio', label: 'audio' }] },
  { title: 'GOP', about: 'key frame interval', unit: 's', names: [{ name: 'gop', label: '' }] },
  { title: 'Audio against video', about: "audio's timestamp less the video's, at arrival", unit: 's', names: [{ name: 'skew', label: '' }], least: 0.2 },
  { title: 'Lost', about: 'packets that never came, continuity errors', unit: '', names: [{ name: 'lost', label: '' }] },
];

/** Course is one line of a chart: of one stream, moved by some seconds. */
export interface Course {
  label: string;
  color: number;
  t: number[];
  low: (number | null)[];
  high: (number | null)[];
}

/** Shown is a stream that is drawn. */
export interface Shown {
  label: string;
  detail: StreamDetail;
  by: number; // seconds that it is moved
}

/** coursesOf are the lines of a quantity: of each stream those of its figures that were measured. */
export function coursesOf(q: Quantity, all: Shown[]): Course[] {
  const out: Course[] = [];
  all.forEach((s, i) => {
    q.names.forEach((n, k) => {
      const frames = n.name === 'late' ? s.detail.frames : null;
      if (frames) { // of each frame, where there are such: of each second it would say the same
        out.push({ label: [all.length > 1 ? s.label : '', 'each frame late'].filter(Boolean).join(' '), color: all.length > 1 ? i * q.names.length + k : k, t: frames.t.map((t) => t + s.by), low: frames.late, high: frames.most ?? frames.late });
        return;
      }
      const f = s.detail.figures.find((x) => x.name === n.name);
      if (!f) return;
      const label = [all.length > 1 ? s.label : '', n.label].filter(Boolean).join(' ');
      out.push({ label, color: all.length > 1 ? i * q.names.length + k : k, t: s.detail.t.map((t) => t + s.by), low: f.low, high: f.high ?? f.low });
    });
  });
  return out;
}

/** at is what a line says at a time: the value that holds then; null is not measured. */
export function at(c: Course, t: number): [low: number, high: number] | null {
  let lo = 0;
  let hi = c.t.length;
  while (lo < hi) { // the first time that is not before t
    const mid = (lo + hi) >> 1;
    if ((c.t[mid] ?? 0) < t) lo = mid + 1;
    else hi = mid;
  }
  const low = c.low[lo] ?? null;
  const high = c.high[lo] ?? null;
  return low === null || high === null ? null : [low, high];
}

/** extent is the least and the most of a line; null where nothing was measured. */
export function extent(c: Course): [number, number] | null {
  let out: [number, number] | null = null;
  c.low.forEach((low, i) => {
    const high = c.high[i] ?? null;
    if (low === null || high === null) return;
    out = out ? [Math.min(out[0], low), Math.max(out[1], high)] : [low, high];
  });
  return out;
}
