// What snag serve --fleet answers (serve/pages/asked.go, fleet/hosts/document.go), and what the page makes of it.
import { type Answer, clock, lasted } from './board';
import { seconds } from './format';
import type { Timeline } from './history';

export interface Step {
  from: string;
  to?: string; // none: no host that is known
  server: string;
  behind?: string; // the server that it stands for
  why?: string;
  rate: number; // answers per second; 0: not measured
  mean_seconds: number;
  stream?: boolean; // a live stream comes from there, which nobody asks for
  more?: number; // servers that it waits for with the same cause
}

export interface Victim {
  host: string;
  symptom: { name: string; subject: string } | null;
  way: Step[];
}

export interface Cause {
  host?: string;
  suspect?: string;
  subject?: string;
  server?: string;
  since: string;
  victims: Victim[];
  node_exporter_only?: boolean; // no recorder is on host
}

export interface Host {
  name: string;
  seen?: string; // none: it never had a recorder
  state: 'affected' | 'ok' | 'paused' | 'gone' | 'node_exporter only';
  node_exporter?: { signs: { name: string; text: string }[] };
  clock_ahead_seconds?: number;
}

export interface FleetState {
  now: string;
  store: string;
  host?: string; // this host, where it has a page of its own
  standing: string;
  failed?: string; // why the store does not answer: what else is here is of then
  failed_since?: string;
  timeline_failed?: string;
  links: Record<string, string>;
  timeline?: Timeline;
  // Of the last answer; none before the first.
  at?: string;
  causes?: Cause[];
  hosts?: Host[];
  warnings?: string[];
  discovery?: { source: string; hosts: number; missing: { name: string; why: string }[]; problems: string[] };
}

const plural = (n: number, noun: string) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

/** titleOf is a cause in a few words: what is wrong, and where. */
export function titleOf(c: Cause): string {
  if (c.suspect) return `${c.suspect} on ${c.host}`;
  if (!c.host) return `${c.server}, which is on none of these hosts`;
  if (c.server && c.node_exporter_only) return `${c.server} on ${c.host}, which has node_exporter only`;
  if (c.server) return `${c.host} and others wait for each other`;
  return `${c.host}: no cause proved`;
}

/** proved: somebody is named. */
export const proved = (c: Cause): boolean => !!c.suspect || ((!c.host || !!c.node_exporter_only) && !!c.server);

/** keyOf is the same of the same cause in another answer. */
export const keyOf = (c: Cause): string => JSON.stringify([c.host, c.suspect, c.subject, c.server]);

/** began is when the first host was affected of which the causes say so. */
function began(causes: Cause[]): string {
  return causes.map((c) => c.since).reduce((a, b) => (Date.parse(a) <= Date.parse(b) ? a : b));
}

/** summary is the first thing on the page. What is not seen is never well. */
export function summary(d: FleetState): Answer {
  const none = { subject: '', incident: 0 };
  const causes = d.causes ?? [];
  const hosts = (d.hosts ?? []).filter((h) => h.state !== 'node_exporter only'); // of those it is not known whether they are affected
  const affected = hosts.filter((h) => h.state === 'affected').length;
  if (d.failed || !d.at) {
    const then = !d.at ? '' : ` What is below is of ${clock(d.at, d.now)}: then ${affected === 0 ? 'no host was seen to be affected' : `${plural(affected, 'host')} ${affected === 1 ? 'was' : 'were'} affected`}.`;
    return { ...none, tone: 'unsure', state: d.at ? `Not measured for ${lasted(d.at, d.now)}` : 'Not measured', title: 'Nothing is known of the hosts now', lead: `They could not be read: ${(d.failed ?? 'the store was not asked yet').trim().replace(/\.$/, '')}.${then}` };
  }
  const rest = counted(d);
  const first = causes[0];
  if (!first) {
    const unseen = d.standing !== 'no host affected' || hosts.length === 0;
    return { ...none, tone: unseen ? 'unsure' : 'well', state: unseen ? 'Not all are seen' : 'Now',
      title: unseen ? 'No host is seen to be affected, but not all were seen' : `No host is affected, and ${hosts.length === 1 ? 'the one there is was seen' : `all ${hosts.length.toLocaleString('en')} were seen`}`, lead: rest === '' ? '' : `${rest}.` };
  }
  const others = causes.length - 1;
  const holds = first.victims.length;
  return {
    tone: causes.some(proved) ? 'guilty' : 'unsure', incident: 0,
    state: `${affected.toLocaleString('en')} of ${plural(hosts.length, 'host')} affected for ${lasted(began(causes), d.now)}`,
    title: titleOf(first), subject: first.subject ?? '',
    lead: `${others > 0 ? `${ofVictims(first, holds)}; ${plural(others, 'other cause')} below` : ofVictims(first, holds)}.${rest === '' ? '' : ` ${rest}.`}`,
  };
}

function ofVictims(c: Cause, n: number): string {
  if (n === 1 && c.victims[0]?.host === c.host) return `It affects ${c.host} alone`;
  return proved(c) ? `It affects ${plural(n, 'host')}` : `${plural(n, 'host')} affected`;
}

/** counted says how many hosts are not seen, and why; "" is none. */
export function counted(d: FleetState): string {
  const n = (state: Host['state']) => (d.hosts ?? []).filter((h) => h.state === state).length;
  const kinds = [
    { n: n('gone'), some: 'sent nothing lately', one: 'it sent nothing lately', all: 'they sent nothing lately' },
    { n: n('paused'), some: 'paused', one: 'its recorder is paused', all: 'their recorders are paused' },
    { n: n('node_exporter only'), some: 'with node_exporter only', one: 'it has node_exporter only', all: 'they have node_exporter only' },
    { n: d.discovery?.missing.length ?? 0, some: 'listed and without a recorder', one: 'it is listed and has no recorder', all: 'they are listed and have no recorder' },
  ].filter((k) => k.n > 0);
  const [first] = kinds;
  if (!first) return (d.warnings?.length ?? 0) + (d.discovery?.problems.length ?? 0) > 0 ? 'The answer has gaps, which are named below' : '';
  const sum = kinds.reduce((x, k) => x + k.n, 0);
  const why = kinds.length > 1 ? kinds.map((k) => `${k.n.toLocaleString('en')} ${k.some}`).join(', ') : sum === 1 ? first.one : first.all;
  return `${plural(sum, 'host')} ${sum === 1 ? 'is' : 'are'} not seen: ${why}`;
}

/** StepWords is a step of a way in words: what is done at the server, what is known of it, what else, and the calls. */
export interface StepWords { does: string; server: string; known: string; more: string; calls: string }

export function wordsOf(s: Step): StepWords {
  const known = `${s.behind ? `, which stands for ${s.behind}` : ''}${s.to ? '' : ', on no host that is known'}`;
  const calls = [s.rate > 0 ? `${Number(s.rate.toPrecision(3)).toLocaleString('en')} answers per second, ${seconds(s.mean_seconds)} each` : '', s.why ?? ''].filter((x) => x !== '').join('; ');
  const more = s.more ? `, and for ${plural(s.more, 'more server')} for the same cause` : '';
  return { does: s.stream ? 'gets a stream from' : s.why === 'error-answers' ? 'gets errors from' : 'waits for', server: s.server, known, more, calls };
}

/** Unseen is a host, or a part of an answer, of which nothing is known. */
export interface Unseen { name: string; text: string }

/** unseen are the hosts of which nothing is known now, those that stopped last first, and what else is missing. */
export function unseen(d: FleetState): Unseen[] {
  const hosts = [...(d.hosts ?? [])].sort((a, b) => Date.parse(b.seen ?? '') - Date.parse(a.seen ?? '') || 0);
  const out: Unseen[] = (d.warnings ?? []).map((w) => ({ name: 'the store', text: w }));
  for (const p of d.discovery?.problems ?? []) out.push({ name: d.discovery?.source ?? '', text: p });
  for (const h of hosts) if (h.state === 'gone') out.push({ name: h.name, text: h.seen ? `its recorder has sent nothing since ${clock(h.seen, d.now)}` : 'nothing came from it lately' });
  for (const h of hosts) if (h.state === 'paused') out.push({ name: h.name, text: 'its recorder is paused, as its disk is full' });
  for (const h of hosts) {
    const signs = (h.node_exporter?.signs ?? []).map((x) => `${x.name} (${x.text})`).join('; ');
    if (h.state === 'node_exporter only') out.push({ name: h.name, text: `only node_exporter is on it, which does not show who waits${signs === '' ? '' : `. Signs: ${signs}`}` });
  }
  for (const m of d.discovery?.missing ?? []) out.push({ name: m.name, text: `${d.discovery?.source} lists it, and ${m.why}` });
  return out;
}

/** wrong are the hosts whose clocks are far off. */
export function wrong(d: FleetState): Unseen[] {
  return (d.hosts ?? []).filter((h) => h.clock_ahead_seconds).map((h) => {
    const by = h.clock_ahead_seconds ?? 0;
    return { name: h.name, text: `its clock is about ${seconds(Math.abs(by))} ${by > 0 ? 'ahead of' : 'behind'} the store's` };
  });
}
