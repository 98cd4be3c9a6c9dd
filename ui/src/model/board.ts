// What snag serve answers (serve/pages/state.go), and what the page makes of it.

export interface Named {
  name: string;
  subject: string;
  text: string;
  harm?: string;
}

export interface Incident {
  id: number;
  start: string;
  end?: string; // none: it goes on, or the recorder was killed before it was over
  noticed?: string;
  standing: string;
  culprits?: Named[];
  symptoms?: Named[];
}

export interface Span {
  id: number;
  start: string;
  end?: string;
}

export interface BoardState {
  host: string;
  now: string;
  recorder: { running: boolean; since?: string; last?: string; why?: string };
  affected: Incident[];
  groups: { last: Incident; times: Span[] }[];
  all: number;
  left?: number;
  damaged?: string;
  fleet?: boolean; // there is a page of many hosts
}

export type Tone = 'guilty' | 'well' | 'unsure';

/** Answer is the first thing on the page: who is affected now. */
export interface Answer {
  tone: Tone;
  state: string;
  title: string;
  subject: string;
  lead: string;
  incident: number; // 0: none
}

/** answers says who is affected now; not measured is never "nobody". */
export function answers(d: BoardState): Answer[] {
  const r = d.recorder;
  if (r.why) return [{ tone: 'unsure', state: 'Not measured', title: 'Nothing is recorded', subject: '', lead: r.why, incident: 0 }];
  if (!r.running) {
    return [{ tone: 'unsure', state: 'Not measured', title: `Nothing has been recorded since ${clock(r.last, d.now)}`, subject: '',
      lead: 'snag record is not running, or it is paused because the disk is full: systemctl status snag-record', incident: 0 }];
  }
  if (d.affected.length === 0) {
    return [{ tone: 'well', state: 'Now', title: 'No client and no stream is seen to be affected', subject: '', lead: d.all === 0 ? `Recorded since ${clock(r.since, d.now)}.` : '', incident: 0 }];
  }
  return d.affected.map((i) => {
    const w = what(i);
    return { tone: 'guilty', state: `Affected for ${lasted(i.start, d.now)}`, title: w.title, subject: w.subject, lead: w.text, incident: i.id };
  });
}

/** what an incident was: its first culprit, or that none was proved. */
export function what(i: Incident): { title: string; subject: string; text: string; more: string } {
  const c = i.culprits?.[0];
  const s = i.symptoms?.[0];
  const victims = i.symptoms?.length ?? 0;
  const more = victims > 0 ? `${victims} ${victims === 1 ? 'symptom' : 'symptoms'}${(i.culprits?.length ?? 0) > 1 ? `, ${i.culprits?.length} culprits` : ''}` : '';
  if (c) return { title: c.name, subject: c.subject, text: [c.text, c.harm].filter(Boolean).join('; '), more };
  if (s) return { title: `no culprit proved: ${s.name}`, subject: s.subject, text: s.text, more };
  return { title: i.standing, subject: '', text: i.noticed ?? '', more };
}

/** clock is a time in UTC; with its day where that is not the day of now. */
export function clock(at: string | undefined, now: string): string {
  if (!at) return 'an unknown time';
  const iso = new Date(at).toISOString();
  const time = iso.slice(11, 19);
  return iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? `${time} UTC` : `${iso.slice(0, 10)} ${time} UTC`;
}

/** lasted is how long something took, in two units at most. */
export function lasted(from: string, to: string): string {
  const s = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (s < 120) return `${s} s`;
  const min = Math.round(s / 60);
  if (min < 120) return `${min} min`;
  const hours = Math.round(min / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

const hour = 3600e3;
const most = 7 * 24 * hour;

/** span is the time that the strips show, ms since the epoch: all incidents, a week at most. */
export function span(d: BoardState): { from: number; to: number } {
  const to = Date.parse(d.now);
  const starts = d.groups.flatMap((g) => g.times.map((t) => Date.parse(t.start)));
  const first = Math.min(to - hour, ...starts);
  return { from: Math.max(first - (to - first) / 50, to - most), to };
}

export interface Bar {
  x: number; // of 0 to 1
  width: number;
  id: number;
}

const least = 1 / 300; // a short one is seen too

/** bars are a group's incidents on its strip, oldest first. One without an end that does not go on is drawn as a moment. */
export function bars(times: Span[], d: BoardState): Bar[] {
  const { from, to } = span(d);
  const going = new Set(d.affected.map((i) => i.id));
  const out: Bar[] = [];
  for (const t of times) {
    const a = Date.parse(t.start);
    const b = t.end ? Date.parse(t.end) : going.has(t.id) ? to : a;
    if (b < from) continue;
    const width = Math.max((b - Math.max(a, from)) / (to - from), least);
    out.unshift({ x: Math.min(Math.max((a - from) / (to - from), 0), 1 - width), width, id: t.id });
  }
  return out;
}
