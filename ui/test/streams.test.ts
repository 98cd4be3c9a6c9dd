import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, coursesOf, extent, quantities } from '../src/model/courses';
import { fromHash, toHash } from '../src/model/link';
import { chosenRows, sparkPaths, streamColumns, totals } from '../src/model/streams';
import type { StreamDetail, StreamRow } from '../src/schema';

function row(name: string, more: Partial<StreamRow> = {}): StreamRow {
  return {
    id: name, state: 'ok', rank: 12, sick: false, since: null, why: '', name, layer: '', side: 'player', protocol: 'rtmp', url: '', codec: 'h264', size: '1920×1080',
    fps: 25, kbps: 2628, gop: 2, drift: 0.01, skew: null, freezes: 0, frozen: 0, spark: '99', from: null, trouble: '', ...more,
  };
}

const rows = [row('cam7', { state: 'FROZEN', rank: 0, sick: true, fps: 0, freezes: 2, frozen: 8.5 }), row('cam10'), row('cam9', { state: 'refused', rank: 2, fps: null, kbps: null, why: '404 Not Found' })];
const column = (name: string) => streamColumns.findIndex((c) => c.name === name);
const names = (all: StreamRow[]) => all.map((r) => r.name).join(' ');

test('totals name every state, the worst first, and what was left out', () => {
  assert.equal(totals(rows, 3), '3 streams: 1 FROZEN, 1 refused, 1 ok');
  assert.equal(totals(rows, 1003), '1,003 streams: 1 FROZEN, 1 refused, 1 ok, 1,000 left out');
  assert.equal(totals(rows.slice(1, 2), 1), '1 stream: 1 ok');
});

test('rows are filtered by all words and sorted, what was not measured last', () => {
  assert.equal(names(chosenRows(rows, '', -1, false)), 'cam7 cam10 cam9');
  assert.equal(names(chosenRows(rows, 'REFUSED 404', -1, false)), 'cam9');
  assert.equal(names(chosenRows(rows, '', column('stream'), false)), 'cam7 cam9 cam10');
  assert.equal(names(chosenRows(rows, '', column('fps'), false)), 'cam7 cam10 cam9');
  assert.equal(names(chosenRows(rows, '', column('fps'), true)), 'cam10 cam7 cam9');
  assert.equal(names(chosenRows(rows, '', column('state'), false)), 'cam7 cam9 cam10');
});

test('a cell that was not measured is no number', () => {
  const text = (name: string, r: StreamRow) => streamColumns[column(name)]?.text(r);
  assert.equal(text('fps', row('a', { fps: null })), null);
  assert.equal(text('fps', row('a', { fps: 0 })), '0');
  assert.equal(text('fps', row('a', { fps: 7.5 })), '7.5');
  assert.equal(text('drift s', row('a', { drift: -1.204 })), '−1.20');
  assert.equal(text('frozen s', row('a', { frozen: 8.5 })), '8.5');
});

test('a curve tells zero from what was not measured', () => {
  const { some, none } = sparkPaths('9 0', 9);
  assert.equal(some, 'M0 9v-9h1V9z');
  assert.equal(none, 'M2 9v-5h1v5z');
});

const detail: StreamDetail = {
  id: 'a', note: '', frames: null, t: [1, 2, 3], threshold: 1, marks: [], more_marks: 0,
  figures: [{ name: 'video', low: [10, null, 30], high: [20, null, 40] }, { name: 'audio', low: [1, 1, 1] }],
};
const bits = quantities.filter((q) => q.unit === 'kb/s')[0];

test('a line holds the value up to its time, and nothing where nothing was measured', () => {
  assert.ok(bits);
  const [video, audio] = coursesOf(bits, [{ label: 'a', detail, by: 0 }]);
  assert.ok(video && audio);
  assert.deepEqual(at(video, 0.5), [10, 20]);
  assert.equal(at(video, 1.5), null);
  assert.deepEqual(at(video, 3), [30, 40]);
  assert.equal(at(video, 3.5), null);
  assert.deepEqual(extent(video), [10, 40]);
  assert.deepEqual(extent(audio), [1, 1]);
});

test('single frames stand for their seconds', () => {
  const late = quantities[0];
  assert.ok(late);
  const figures: StreamDetail['figures'] = [{ name: 'late', low: [0, 0, 0] }, { name: 'clock', low: [0, 0, 0] }];
  const of = (frames: StreamDetail['frames']) => coursesOf(late, [{ label: 'a', detail: { ...detail, figures, frames }, by: 10 }]);
  assert.deepEqual(of(null).map((l) => l.label), ['late', 'ahead']);
  const [each, ahead] = of({ t: [0.04, 0.08], late: [0, 0.3] });
  assert.deepEqual([each?.label, each?.t, each?.high, ahead?.label], ['each frame late', [10.04, 10.08], [0, 0.3], 'ahead']);
  assert.deepEqual(of({ t: [1], late: [0], most: [0.5] })[0]?.high, [0.5]);
});

test('what is drawn beside it is moved, and has other colours', () => {
  assert.ok(bits);
  const all = coursesOf(bits, [{ label: 'a', detail, by: 0 }, { label: 'b', detail, by: 30 }]);
  assert.deepEqual(all.map((l) => l.label), ['a video', 'a audio', 'b video', 'b audio']);
  assert.deepEqual(all[2]?.t, [31, 32, 33]);
  assert.equal(new Set(all.map((l) => l.color)).size, 4);
});

test('a link keeps what is opened', () => {
  for (const o of [{ id: 'live/cam 1&x=ü#', beside: '', by: 0 }, { id: 'a', beside: 'b=c&d', by: -1.5 }]) assert.deepEqual(fromHash(toHash(o)), o);
  assert.equal(fromHash('#verdict'), null);
  assert.deepEqual(fromHash('#stream=%E0%A4%A&by=x'), { id: '%E0%A4%A', beside: '', by: 0 });
});
