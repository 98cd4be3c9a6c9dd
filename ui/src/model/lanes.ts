// The rows of the timeline, in the order in which the eye should meet them: what
// was there, what is accused of it, when its evidence moved, then the rest.
import type { Chart, Entry, Page } from '../schema';
import type { Axis, Range } from './axis';

export interface Lane {
  kind: 'symptom' | Entry['state'] | 'evidence' | 'event';
  label: string;
  subject: string; // what it is about; '' where the row above says it, or nobody is
  about: string;
  spans: { at: Range; weight: number; text: string }[]; // weight 0–1: how strong
  always: boolean; // it held for the whole window
}

const most = 40;

export function lanesOf(page: Page, axis: Axis): { lanes: Lane[]; left: number } {
  const charts = new Map(page.charts.map((c) => [c.id, c]));
  const lanes: Lane[] = grouped(page.verdict.symptoms.map((s) => ({
    kind: 'symptom', label: s.name, subject: s.subject, about: `${s.subject}: ${s.text}`, always: (s.active ?? []).length === 0,
    spans: intervals(s.active ?? [], axis, `${s.subject}: ${s.text}`),
  })));
  for (const state of ['culprit', 'contributing', 'consequence', 'risk'] as const) {
    const entries = page.verdict.verdict.filter((e) => e.state === state);
    const all = entries.map((e): Lane => ({ kind: state, label: e.suspect, subject: e.subject, about: `${e.subject}: ${e.text}`, always: e.active.length === 0, spans: intervals(e.active, axis, `${e.subject}: ${e.text}`) }));
    if (state !== 'culprit') lanes.push(...grouped(all));
    else entries.forEach((e, i) => lanes.push(all[i] as Lane, ...evidenceLanes(e, charts)));
  }
  const kinds = new Map<string, Lane>();
  const whose = new Map<string, Set<string>>();
  for (const e of page.events) {
    if ((e.end ?? e.t) < 0 || e.t > axis.seconds) continue;
    let lane = kinds.get(e.kind);
    if (!lane) {
      lane = { kind: 'event', label: e.kind, subject: '', about: 'events', always: false, spans: [] };
      kinds.set(e.kind, lane);
    }
    whose.set(e.kind, (whose.get(e.kind) ?? new Set()).add(e.subject));
    lane.spans.push({ at: [e.t, e.end ?? e.t], weight: 1, text: e.text });
  }
  for (const lane of kinds.values()) {
    const subjects = [...(whose.get(lane.label) ?? [])].filter((s) => s && !lane.label.endsWith(s)); // "log: live/cam1" says it
    lanes.push({ ...lane, subject: together(subjects), about: subjects.slice(0, 8).join('\n') });
  }
  return { lanes: lanes.slice(0, most), left: Math.max(0, lanes.length - most) };
}

/** grouped draws more than two of a name as one row, darker where more of them
 * are at once: they are one incident with many victims. */
function grouped(all: Lane[]): Lane[] {
  const out: Lane[] = [];
  for (const lane of all) {
    const same = all.filter((l) => l.label === lane.label);
    if (same.length <= 2) out.push(lane);
    else if (same[0] === lane) {
      const weight = Math.max(0.2, 1 / same.length);
      const spans = same.flatMap((l) => l.spans.map((s) => ({ ...s, weight })));
      out.push({ ...lane, label: `${lane.label} × ${same.length}`, subject: together(same.map((l) => l.subject)), about: same.slice(0, 8).map((l) => l.about).join('\n'), always: spans.length === 0, spans });
    }
  }
  return out;
}

/** together names several subjects in a row's room: the one that they are, or how many. */
function together(subjects: string[]): string {
  const all = [...new Set(subjects)];
  return all.length <= 1 ? (all[0] ?? '') : `${all.length} subjects`;
}

function intervals(all: { start: string; end: string | null }[], axis: Axis, text: string): Lane['spans'] {
  return all.map((i) => ({ at: [axis.since(i.start), i.end === null ? axis.seconds : axis.since(i.end)], weight: 1, text }));
}

/** evidenceLanes show when the series behind each piece moved, darker for more. */
function evidenceLanes(e: Entry, charts: Map<string, Chart>): Lane[] {
  const out: Lane[] = [];
  const seen = new Set<string>();
  for (const piece of e.evidence) {
    for (const id of piece.series ?? []) {
      const chart = charts.get(id);
      if (piece.side !== 'for' || !chart || chart.flat || seen.has(id) || out.length === 4) continue;
      seen.add(id);
      const spans = moved(chart);
      if (spans.length > 0) out.push({ kind: 'evidence', label: chart.title, subject: chart.about === e.subject ? '' : chart.about, about: piece.text, always: false, spans });
    }
  }
  return out;
}

/** moved is when a chart's first line was over zero, by how much of its most. */
function moved(c: Chart): Lane['spans'] {
  const line = c.lines[0];
  if (!line) return [];
  const low = Math.min(...line.v);
  const high = Math.max(...line.v);
  const out: Lane['spans'] = [];
  line.v.forEach((v, i) => {
    const t = line.t[i] ?? 0;
    const before = line.t[i - 1];
    const weight = high > 0 ? (v - Math.min(low, 0)) / (high - Math.min(low, 0)) : 0;
    if (weight > 0.02 && before !== undefined) out.push({ at: [before, t], weight, text: '' });
  });
  return out;
}
