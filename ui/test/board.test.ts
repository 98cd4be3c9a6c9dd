import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, bars, clock, lasted, type BoardState, type Incident } from '../src/model/board';

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 12, 0) + minutes * 60e3).toISOString();
const incident = (id: number, from: number, to?: number): Incident => ({
  id, start: at(from), standing: 'culprit', culprits: [{ name: 'worker-queue', subject: 'app[7] (netns x)', text: '8 workers', harm: '40 ms' }],
  symptoms: [{ name: 'request-latency', subject: 'app[7]', text: 'slow' }], ...(to === undefined ? {} : { end: at(to) }),
});
const state = (more: Partial<BoardState>): BoardState => ({ host: 'web1', now: at(0), recorder: { running: true, since: at(-600), last: at(0) }, affected: [], groups: [], all: 0, ...more });

test('not measured is never nobody', () => {
  for (const recorder of [{ running: false, last: at(-5) }, { running: false, why: 'no recordings' }]) {
    const [a] = answers(state({ recorder }));
    assert.equal(a?.tone, 'unsure');
    assert.doesNotMatch(`${a?.state} ${a?.title}`, /no client/i);
  }
  assert.equal(answers(state({}))[0]?.tone, 'well');
});

test('each incident that goes on is named with its culprit', () => {
  const all = answers(state({ affected: [incident(3, -4), { ...incident(4, -1), culprits: [] }] }));
  assert.deepEqual(all.map((a) => [a.state, a.title, a.incident]), [['Affected for 4 min', 'worker-queue', 3], ['Affected for 60 s', 'no culprit proved: request-latency', 4]]);
  assert.equal(all[0]?.lead, '8 workers; 40 ms');
});

test('bars lie on the strip, a short one is seen, and what has no end is a moment', () => {
  const times = [{ id: 3, start: at(-1) }, { id: 2, start: at(-30), end: at(-20) }, { id: 1, start: at(-50), end: at(-50) }];
  const groups = [{ last: incident(3, -1), times }];
  const quiet = bars(times, state({ groups, all: 3 }));
  assert.deepEqual(quiet.map((b) => b.id), [1, 2, 3]);
  for (const b of quiet) assert.ok(b.x >= 0 && b.x + b.width <= 1.0000001 && b.width >= 1 / 300, JSON.stringify(b));
  const going = bars(times, state({ groups, all: 3, affected: [incident(3, -1)] }));
  assert.ok((going[2]?.width ?? 0) > (quiet[2]?.width ?? 1) * 2);
});

test('times are of UTC, with their day where it is another', () => {
  assert.equal(clock(at(-1), at(0)), '11:59:00 UTC');
  assert.equal(clock(at(-24 * 60), at(0)), '2026-11-29 12:00:00 UTC');
  assert.deepEqual([lasted(at(0), at(1)), lasted(at(0), at(90)), lasted(at(0), at(60 * 30)), lasted(at(0), at(60 * 24 * 3))], ['60 s', '90 min', '30 h', '3 days']);
});
