import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Axis, axisOf } from '../src/model/axis';
import { bytes, count, percent, seconds, value } from '../src/model/format';
import { lanesOf } from '../src/model/lanes';
import { filtered, sorted } from '../src/model/rows';
import { shares } from '../src/model/accounts';
import type { Page, Requests } from '../src/schema';

test('the axis keeps to the window', () => {
  const a = new Axis(30, 0);
  let told = 0;
  a.on('range', () => told++);
  a.show(-5, 10);
  assert.deepEqual(a.shown, [0, 15]);
  a.zoom(0.5, 5);
  assert.deepEqual(a.shown, [2.5, 10]);
  a.pan(10);
  assert.deepEqual(a.shown, [22.5, 30]);
  a.show(4, 4.001);
  assert.ok(Math.abs(a.shown[1] - a.shown[0] - 0.05) < 1e-9);
  a.all();
  assert.ok(a.whole);
  a.all();
  assert.equal(told, 5); // not for what changes nothing
  a.point(99);
  assert.equal(a.cursor, 30);
});

test('times are read to the microsecond and told by the clock', () => {
  const a = axisOf({ start: '2026-11-21T05:20:32.123456789Z', seconds: 8 });
  assert.ok(Math.abs(a.since('2026-11-21T05:20:33.123456789Z') - 1) < 1e-6);
  assert.ok(Math.abs(a.since('2026-11-21T05:20:32.123956789Z') - 0.0005) < 1e-6);
  assert.equal(a.clock(0), '05:20:32');
  assert.equal(a.clock(1, true), '05:20:33.123');
  for (const t of a.ticks(8)) assert.match(a.clock(t, true), /\.(000|999)$/);
});

test('hours read as hours', () => {
  assert.equal(seconds(7199), '119 min 59 s');
  assert.equal(seconds(86400), '24 h 0 min');
});

test('a day has a tick for some hours', () => {
  const a = new Axis(86400, 0);
  assert.ok(a.ticks(8).length <= 9, String(a.ticks(8).length));
});

test('numbers read as in the text report', () => {
  assert.equal(count(2874), '2,874');
  assert.equal(count(0.25), '0.25');
  assert.equal(count(-1234567), '-1,234,567');
  assert.equal(bytes(212992), '208 KiB');
  assert.equal(seconds(0.00082), '820 µs');
  assert.equal(seconds(0.044), '44 ms');
  assert.equal(seconds(125), '2 min 5 s');
  assert.equal(percent(0.034), '3.4 %');
  assert.equal(value(1024, 'bytes/s'), '1 KiB/s');
});

test('rows sort by number, what is not measured last both ways', () => {
  const rows = [['b', 10], ['a', null], ['c', 9]];
  assert.deepEqual(sorted(rows, 1, false).map((r) => r[0]), ['c', 'b', 'a']);
  assert.deepEqual(sorted(rows, 1, true).map((r) => r[0]), ['b', 'c', 'a']);
  assert.deepEqual(filtered(rows, 'B 10'), [['b', 10]]);
  assert.deepEqual(filtered(rows, 'b 9'), []);
});

test('symptom, culprit and evidence stand under each other', () => {
  const at = (s: number) => `2026-11-21T05:20:${String(s).padStart(2, '0')}Z`;
  const subject = { kind: 'socket' as const };
  const page: Page = {
    version: 1, events: [], tables: [], left_out: [], scene: { paths: [], rest: '' },
    charts: [{ id: 'x', title: 'drops', about: '', unit: '/s', flat: false, more: 0, lines: [{ label: '', t: [0, 1, 2, 3], v: [0, 0, 5, 10] }] }],
    verdict: {
      version: 1, snag: '', host: '', kernel: '', window: { start: at(0), end: at(4), seconds: 4 }, warnings: [], coverage: [],
      symptoms: [{ name: 'datagrams-lost', subject: 's', subject_ref: subject, onset: at(1), text: '', share: 1, amount: 1, unit: '', active: [{ start: at(1), end: null }] }],
      verdict: [{
        id: 'c#1', suspect: 'c', title: '', state: 'culprit', subject: 's', subject_ref: subject, text: '', confidence: 1, since: null, harm: null,
        active: [], explained_by: null, leads_to: [], chain: [], remedy: null, next_measurement: null,
        evidence: [{ side: 'for', grade: 'strong', text: '', value: 1, unit: '', source: '', series: ['x', 'not drawn'] }],
      }],
    },
  };
  const { lanes, left } = lanesOf(page, axisOf(page.verdict.window));
  assert.deepEqual(lanes.map((l) => l.kind), ['symptom', 'culprit', 'evidence']);
  assert.deepEqual(lanes[0]?.spans[0]?.at, [1, 4]); // it goes on to the end
  assert.ok(lanes[1]?.always);
  assert.deepEqual(lanes[2]?.spans.map((s) => [s.at, s.weight]), [[[1, 2], 0.5], [[2, 3], 1]]);
  assert.equal(left, 0);

  // Many victims are one row.
  const felt = page.verdict.symptoms[0];
  if (felt) page.verdict.symptoms = [felt, felt, felt];
  const symptoms = lanesOf(page, axisOf(page.verdict.window)).lanes.filter((l) => l.kind === 'symptom');
  assert.deepEqual(symptoms.map((l) => [l.label, l.spans.length]), [['datagrams-lost × 3', 3]]);
});

test('a culprit has its part of each account', () => {
  const booked = (account: string, s: number, more = {}) => ({ account, seconds: s, delay: account === 'lock', ...more });
  const r = { seconds: 10, accounts: [booked('call', 4, { claimed_seconds: 3, claimed_by: 'slow#1' }), booked('lock', 3), booked('call', 2), booked('unseen', 1)] } as unknown as Requests;
  assert.deepEqual(shares(r).map((s) => [s.account, s.ink, Math.round(10 * s.share), s.by]), [
    ['call', 'claimed', 3, 'slow#1'], ['call', 'rest', 3, undefined], ['lock', 'delay', 3, undefined], ['unseen', 'unseen', 1, undefined],
  ]);
  assert.deepEqual(shares({ seconds: 0, accounts: [] } as unknown as Requests), []);
});
