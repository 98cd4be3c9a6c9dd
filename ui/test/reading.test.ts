import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Axis } from '../src/model/axis';
import { Tree } from '../src/model/flame';
import { bare, compact, shortened } from '../src/model/format';
import { distinct } from '../src/model/labels';
import { lanesOf } from '../src/model/lanes';
import { shared } from '../src/model/paper';
import { extentIn, sampleAt } from '../src/model/reading';
import type { Flame, Page } from '../src/schema';

test('a step is read over all of its length', () => {
  const times = [1, 2, 4];
  const read = (how: 'until' | 'from' | 'nearest') => [0.9, 1, 1.1, 1.9, 2, 2.1, 3.9, 4, 4.1].map((t) => sampleAt(times, t, how));
  assert.deepEqual(read('until'), [null, 0, 1, 1, 1, 2, 2, 2, null]);
  assert.deepEqual(read('from'), [null, 0, 0, 0, 1, 1, 1, 2, null]);
  assert.deepEqual(read('nearest'), [null, 0, 0, 1, 1, 1, 2, 2, null]);
  assert.equal(sampleAt([], 1, 'nearest'), null);
});

test('the values of a zoomed chart are those that its lines lead to', () => {
  assert.deepEqual(extentIn([1, 2, 4, 6], [9, 1, 5, 7], 2.5, 3), [1, 5]); // the step at 3 is that of the sample at 4
  assert.deepEqual(extentIn([1, 2, 4, 6], [9, 1, 5, 7], 0, 9), [1, 9]);
  assert.deepEqual(extentIn([1, 2, 4], [9, null, 5], 2.5, 3), [5, 5]);
  assert.equal(extentIn([], [], 0, 1), null);
});

test('labels keep what tells them apart', () => {
  assert.deepEqual(distinct(['10.0.0.1:8081 → 10.0.0.2:41000', '10.0.0.1:8081 → 10.0.0.2:42000']), ['…41000', '…42000']);
  assert.deepEqual(distinct(['SIGCONT', 'SIGSTOP']), ['SIGCONT', 'SIGSTOP']);
  assert.deepEqual(distinct(['api[8] (netns shop)', 'api[8] (netns bank)']), ['api[8] (netns shop)', 'api[8] (netns bank)']); // else they would read the same
  assert.deepEqual(distinct(['worker 1', 'worker 1 of 2']), ['worker 1', 'worker 1 of 2']);
  const long = (end: string) => `/srv/${'a'.repeat(60)}/${end}`;
  assert.deepEqual(distinct([long('x'), long('y')]), ['…x', '…y']);
  assert.equal(distinct([long('x')])[0]?.length, 44);
  assert.equal(bare('relay[7] tcp 10.0.0.1:80 (netns shop)'), 'relay[7] tcp 10.0.0.1:80');
  assert.equal(shortened('relay[7] tcp 10.77.7.2:9000 → 10.77.7.1:47894', 20), 'relay[7] t…7.1:47894');
});

test('a subject keeps its process in a narrow row', () => {
  const socket = 'relay[7] tcp 10.77.7.2:9000 → 10.77.7.1:47894 (netns shop)';
  assert.equal(compact(socket, 60), 'relay[7] tcp 10.77.7.2:9000 → 10.77.7.1:47894');
  assert.equal(compact(socket, 30), 'relay[7] :9000 → :47894');
  assert.equal(compact(socket, 20), 'relay[7]');
  assert.equal(compact(socket, 6), 'rel…7]');
  assert.equal(compact('peer 10.78.8.2:53', 9), 'peer :53');
});

test('paper is shared among the tables', () => {
  assert.deepEqual(shared([3, 100, 0, 50], 43), [3, 20, 0, 20]);
  assert.deepEqual(shared([3, 4], 90), [3, 4]);
  assert.deepEqual(shared([], 90), []);
});

test('a flame graph finds the culprit by its process id, else by its name', () => {
  const flame: Flame = {
    name: 'oncpu', title: '', unit: 'samples', total: 10, note: '', frames: ['java[7]', 'gunicorn[20]', 'gunicorn[21]', 'java[70]'], objects: ['', '', '', ''],
    kinds: ['process', 'process', 'process', 'process'], parent: [-1, 0, 0, 0, 0], frame: [-1, 0, 1, 2, 3], value: [10, 4, 3, 2, 1],
  };
  const t = new Tree(flame);
  assert.deepEqual(t.processes([{ pid: 7, name: 'PauseServer' }]), [1]); // the JVM's main class is not what the kernel calls it
  assert.deepEqual(t.processes([{ pid: 19, name: 'gunicorn' }]), [2, 3]); // the workers of a master that does nothing
  assert.deepEqual(t.processes([{ pid: 0, name: '' }]), []);
});

test('rows of the timeline name their subject', () => {
  const event = (kind: string, subject: string) => ({ t: 1, end: null, kind, subject, text: '' });
  const felt = (subject: string) => ({ name: 'stream-freeze', subject, text: '', active: [] });
  const page = {
    charts: [], events: [event('stopped', 'relay[7]'), event('stopped', 'relay[7]'), event('signal', 'a[1]'), event('signal', 'b[2]'), event('log: live/cam1', 'live/cam1')],
    verdict: { symptoms: ['x', 'y', 'z'].map(felt), verdict: [{ state: 'culprit', suspect: 'process-stopped', subject: 'relay[7]', text: '', active: [], evidence: [] }] },
  } as unknown as Page;
  assert.deepEqual(lanesOf(page, new Axis(5, 0)).lanes.map((l) => [l.label, l.subject]), [
    ['stream-freeze × 3', '3 subjects'], ['process-stopped', 'relay[7]'], ['stopped', 'relay[7]'], ['signal', '2 subjects'], ['log: live/cam1', ''],
  ]);
});
