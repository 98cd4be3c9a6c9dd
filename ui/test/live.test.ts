import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Axis } from '../src/model/axis';
import { type LiveStreams, Poller } from '../src/model/poll';

test('a window that grows keeps the part that is shown, and goes on at its end', () => {
  const a = new Axis(100, 0);
  a.grow(102, 0);
  assert.deepEqual(a.shown, [0, 102]); // all of it
  a.show(50, 102);
  a.grow(104, 0);
  assert.deepEqual(a.shown, [52, 104]); // the end
  a.show(10, 20);
  a.grow(106, 0);
  assert.deepEqual(a.shown, [10, 20]); // what somebody looks at
  a.grow(108, 15);
  assert.deepEqual(a.shown, [15, 25]); // its beginning is forgotten
  a.all();
  assert.deepEqual(a.shown, [15, 108]);
  assert.ok(a.whole);
  a.point(3);
  assert.equal(a.cursor, 15);
});

const answer = (id: string): LiveStreams => ({
  start_ms: 0, now: 1, begin: 0, sick: 0, own: '',
  streams: { rows: [{ id } as LiveStreams['streams']['rows'][number]], total: 1, details: [], groups: [], spark_seconds: 600 },
});

test('it asks for the courses of what is opened, else of the first', async () => {
  const asked: string[] = [];
  const got: LiveStreams[] = [];
  let wanted: string[] = [];
  const p = new Poller(() => wanted, (d) => got.push(d), assert.fail, async (path) => {
    asked.push(path);
    return { ok: true, status: 200, statusText: '', json: async () => (path.startsWith('courses') ? [{ id: 'x' }] : answer('live/cam 1')) };
  });
  await p.look();
  wanted = ['a&b', 'c'];
  await p.look();
  assert.deepEqual(asked, ['streams.json', 'courses.json?id=live%2Fcam%201', 'streams.json', 'courses.json?id=a%26b&id=c']);
  assert.equal(got[1]?.streams.details[0]?.id, 'x');
});

test('what fails is said, and asked again', async () => {
  const said: string[] = [];
  let fails = true;
  let took = 0;
  const p = new Poller(() => [], () => took++, (why) => said.push(why), async (path) => {
    if (fails) throw new Error('Failed to fetch');
    return { ok: path !== 'streams.json', status: 503, statusText: 'Service Unavailable', json: async () => null };
  });
  await p.look();
  fails = false;
  await p.look();
  assert.deepEqual(said, ['Failed to fetch', 'streams.json: 503 Service Unavailable']);
  assert.equal(took, 0);
});
