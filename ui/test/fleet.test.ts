import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cause, counted, type FleetState, summary, titleOf, unseen, wordsOf, wrong } from '../src/model/fleet';
import { bars, begin, gaps, levels, ticks, type Timeline, when } from '../src/model/history';

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 14, 0) + minutes * 60e3).toISOString();
const way = [{ from: 'edge-1', to: 'origin-3', server: '10.0.0.3:8080', why: 'slow-dependency', rate: 50, mean_seconds: 0.8 }];
const victims = (n: number) => Array.from({ length: n }, (_, i) => ({ host: `edge-${i + 1}`, symptom: { name: 'request-latency', subject: 'nginx[7]' }, way }));
const pause: Cause = { host: 'origin-3', suspect: 'runtime-pause', subject: 'java[77]', since: at(-5), victims: victims(7) };
const host = (name: string, state: 'affected' | 'ok' | 'paused' | 'gone', minutes = 0) => ({ name, state, seen: at(minutes) });
const state = (more: Partial<FleetState>): FleetState => ({ now: at(0), store: 'http://p:9090', standing: 'no host affected', links: {}, at: at(0), causes: [], hosts: [host('a', 'ok'), host('b', 'ok')], warnings: [], ...more });

test('the first line says how many hosts are affected, by what, since when', () => {
  const hosts = [...victims(8).map((v) => host(v.host, 'affected')), host('origin-3', 'ok'), host('x', 'gone', -20)];
  const a = summary(state({ standing: 'culprit', hosts, causes: [pause, { server: '192.0.2.7:443', since: at(-9), victims: victims(1) }] }));
  assert.equal(a.tone, 'guilty');
  assert.equal(a.state, '8 of 10 hosts affected for 9 min');
  assert.equal(a.title, 'runtime-pause on origin-3');
  assert.equal(a.subject, 'java[77]');
  assert.equal(a.lead, 'It affects 7 hosts; 1 other cause below. 1 host is not seen: it sent nothing lately.');
  const alone = summary(state({ standing: 'culprit', hosts: [host('a', 'affected')], causes: [{ host: 'a', suspect: 'disk-stall', since: at(-1), victims: [{ host: 'a', symptom: null, way: [] }] }] }));
  assert.equal(alone.lead, 'It affects a alone.');
});

test('what is not seen is never well', () => {
  assert.deepEqual([summary(state({})).tone, summary(state({})).title], ['well', 'No host is affected, and all 2 were seen']);
  for (const more of [
    { standing: 'not seen', hosts: [host('a', 'ok'), host('b', 'gone', -9)] },
    { standing: 'not seen', warnings: ['store-2: deadline exceeded'] },
    { standing: 'not seen', discovery: { source: 'file:x', hosts: 3, missing: [{ name: 'c', why: 'no recorder on it sends to this store' }], problems: [] } },
  ]) {
    const a = summary(state(more));
    assert.equal(a.tone, 'unsure', JSON.stringify(more));
    assert.match(a.title, /not all were seen/);
    assert.ok(a.lead.length > 5, a.lead);
  }
});

test('of a host with node_exporter only it is not known whether it is affected', () => {
  const only = { name: 'db', state: 'node_exporter only' as const, node_exporter: { signs: [{ name: 'listen-overflow', text: '117 connects dropped' }] } };
  const beside = summary(state({ hosts: [host('a', 'ok'), host('b', 'ok'), only] }));
  assert.deepEqual([beside.tone, beside.title, beside.lead], ['well', 'No host is affected, and all 2 were seen', '1 host is not seen: it has node_exporter only.']);
  assert.equal(summary(state({ hosts: [only] })).tone, 'unsure');
  assert.deepEqual(unseen(state({ hosts: [only] })), [{ name: 'db', text: 'only node_exporter is on it, which does not show who waits. Signs: listen-overflow (117 connects dropped)' }]);
  assert.equal(titleOf({ host: 'db', server: '10.0.0.9:5432', node_exporter_only: true, since: at(0), victims: [] }), '10.0.0.9:5432 on db, which has node_exporter only');
});

test('a store without an answer is named, with the time of what is shown', () => {
  const failed = 'ask http://p:9090: connection refused';
  const a = summary(state({ failed, standing: 'not seen', at: at(-3) }));
  assert.equal(a.tone, 'unsure');
  assert.equal(a.state, 'Not measured for 3 min');
  assert.equal(a.lead, 'They could not be read: ask http://p:9090: connection refused. What is below is of 13:57:00 UTC: then no host was seen to be affected.');
  const { at: _, causes: __, hosts: ___, ...never } = state({ failed, standing: 'not seen' });
  const first = summary(never);
  assert.deepEqual([first.tone, first.state, first.lead], ['unsure', 'Not measured', 'They could not be read: ask http://p:9090: connection refused.']);
});

test('a cause is named by what is known of it', () => {
  assert.deepEqual([pause, { host: 'app-2', since: at(0), victims: [] }, { server: '192.0.2.7:443', since: at(0), victims: [] }, { host: 'a', server: '10.0.0.1:80', since: at(0), victims: [] }].map(titleOf),
    ['runtime-pause on origin-3', 'app-2: no cause proved', '192.0.2.7:443, which is on none of these hosts', 'a and others wait for each other']);
  assert.equal(summary(state({ standing: 'no cause proved', hosts: [host('a', 'affected')], causes: [{ host: 'a', since: at(-1), victims: victims(1) }] })).tone, 'unsure');
});

test('a step of a way says to which server, how fast and why', () => {
  assert.deepEqual(wordsOf(way[0]!), { does: 'waits for', server: '10.0.0.3:8080', known: '', more: '', calls: '50 answers per second, 800 ms each; slow-dependency' });
  assert.deepEqual(wordsOf({ from: 'a', server: '10.96.0.10:80', behind: '10.0.0.3:8080', to: 'b', rate: 0, mean_seconds: 0 }), { does: 'waits for', server: '10.96.0.10:80', known: ', which stands for 10.0.0.3:8080', more: '', calls: '' });
  assert.equal(wordsOf({ from: 'a', server: '192.0.2.7:443', rate: 0, mean_seconds: 0 }).known, ', on no host that is known');
  const stream = wordsOf({ from: 'a', server: '10.0.0.2:1935', to: 'b', rate: 0, mean_seconds: 0, stream: true, more: 2 });
  assert.deepEqual([stream.does, stream.more], ['gets a stream from', ', and for 2 more servers for the same cause']);
});

test('each host that is not seen is named, and why', () => {
  const d = state({
    standing: 'not seen', warnings: ['store-2: deadline exceeded'], hosts: [host('a', 'ok'), host('b', 'gone', -20), host('c', 'paused'), { ...host('d', 'ok'), clock_ahead_seconds: 300 }],
    discovery: { source: 'file:x', hosts: 5, missing: [{ name: 'e', why: 'no recorder on it sends to this store' }], problems: ['file:x: y.json can\'t be read'] },
  });
  assert.deepEqual(unseen(d).map((u) => `${u.name}: ${u.text}`), ['the store: store-2: deadline exceeded', 'file:x: file:x: y.json can\'t be read',
    'b: its recorder has sent nothing since 13:40:00 UTC', 'c: its recorder is paused, as its disk is full', 'e: file:x lists it, and no recorder on it sends to this store']);
  assert.equal(counted(d), '3 hosts are not seen: 1 sent nothing lately, 1 paused, 1 listed and without a recorder');
  assert.deepEqual(wrong(d).map((u) => u.text), ['its clock is about 5 min 0 s ahead of the store\'s']);
});

const steps = 12;
const timeline = (more: Partial<Timeline>): Timeline => ({ from: at(-60), to: at(0), step_seconds: 300, seen: Array<number>(steps + 1).fill(3), affected: Array<number>(steps + 1).fill(0), rows: [], warnings: [], ...more });

test('bars lie on the strip, a short one is seen, and one that goes on reaches its end', () => {
  const t = timeline({});
  const row = { host: 'a', suspect: 'x', incidents: [{ start: at(-3) }, { start: at(-30), end: at(-30) }, { start: at(-90), end: at(-55) }] };
  const all = bars(row, t, at(0));
  for (const b of all) assert.ok(b.x >= 0 && b.x + b.width <= 1.0000001 && b.width >= 1 / 300, JSON.stringify(b));
  assert.equal(all[0]?.x, 0); // it began before
  assert.ok(Math.abs((all[2]?.x ?? 0) + (all[2]?.width ?? 0) - 1) < 1e-9);
  assert.deepEqual(all.map((b) => b.going), [false, false, true]);
  assert.match(all[2]?.title ?? '', /^13:57:00 UTC, goes on for 3 min$/);
  assert.equal(when(row, at(0)), '3 times, since 13:57:00 UTC');
});

test('where no host sent anything is a gap, and not a time without incidents', () => {
  const seen = Array<number>(steps + 1).fill(3);
  seen.fill(0, 0, 4);
  seen[8] = 0;
  const t = timeline({ seen });
  assert.equal(begin(t), Date.parse(at(-60 + 3 * 5)));
  const all = gaps(t).map((g) => [Math.round(60 * g.x), Math.round(60 * g.width)]);
  assert.deepEqual(all, [[0, 15], [35, 5]]);
  assert.equal(begin(timeline({ seen: seen.map(() => 0) })), null);
  assert.deepEqual(gaps(timeline({})), []);
});

test('levels are of the most hosts at a time', () => {
  const affected = Array<number>(steps + 1).fill(0);
  affected[3] = 1;
  affected[12] = 2;
  const { most, all } = levels(timeline({ affected }), at(0));
  assert.equal(most, 2);
  assert.deepEqual(all.map((l) => [Math.round(60 * l.x), l.height]), [[10, 0.5], [55, 1]]);
  assert.match(all[1]?.title ?? '', /2 of 3 hosts/);
  assert.deepEqual(levels(timeline({}), at(0)), { most: 0, all: [] });
});

test('the axis has whole hours, a handful', () => {
  const day = ticks(timeline({ from: at(-24 * 60 - 7), to: at(0) }));
  assert.ok(day.length >= 3 && day.length <= 7, JSON.stringify(day));
  for (const k of day) assert.ok(k.text.endsWith(':00') && k.x >= 0 && k.x <= 1);
});
