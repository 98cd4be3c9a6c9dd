import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bars, scaleOf } from '../src/model/compared';
import type { ComparedParty } from '../src/schema';

const party: ComparedParty = { subject: 'shop', change: '', worse: true, mean_a: 0.01, mean_b: 0.04, accounts: [
  { account: 'computing', delay: false, a: 0.008, b: 0.01 }, { account: 'throttled by its quota', delay: true, a: 0.002, b: 0.03 }] };

test('both bars are on the scale of the longer one, what can be avoided first', () => {
  const most = scaleOf(party);
  assert.ok(Math.abs(most - 0.04) < 1e-12);
  const whole = (side: 'A' | 'B') => bars(party, side, most).reduce((n, b) => n + b.width, 0);
  assert.ok(Math.abs(whole('B') - 1000) < 1e-6);
  assert.ok(Math.abs(whole('A') - 250) < 1e-6);
  const b = bars(party, 'B', most);
  assert.deepEqual(b.map((x) => x.ink), ['delay', 'rest']);
  assert.ok(Math.abs(b[0].width - 750) < 1e-6 && b[1].x === b[0].width);
});

test('a party without booked time has no bar', () => {
  const none = { ...party, accounts: [] };
  assert.deepEqual(bars(none, 'A', scaleOf(none)), []);
});
