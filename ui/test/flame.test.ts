import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tree } from '../src/model/flame';
import type { Flame } from '../src/schema';

// all 10: main 10: read 6 (copy 2), spin 3; 1 in main itself
const flame: Flame = {
  name: 'oncpu', title: 'On the CPU', unit: 'samples', total: 10, note: '',
  frames: ['main', 'read', 'copy', 'spin'], objects: ['/bin/a', '', '', '/lib/spin.so'], kinds: ['user', 'kernel', 'kernel', 'user'],
  parent: [-1, 0, 1, 2, 1], frame: [-1, 0, 1, 2, 3], value: [10, 10, 6, 2, 3],
};

test('boxes fill the width by weight', () => {
  const t = new Tree(flame);
  assert.deepEqual(t.self, [0, 1, 4, 2, 3]);
  const at = (zoomed: number, least = 0) => t.boxes(zoomed, least).map((b) => [b.node, b.depth, b.from, b.to]);
  assert.deepEqual(at(0), [[0, 0, 0, 1], [1, 1, 0, 1], [2, 2, 0, 0.6], [3, 3, 0, 0.2], [4, 2, 0.6, 0.8999999999999999]]);
  assert.deepEqual(at(2), [[0, 0, 0, 1], [1, 1, 0, 1], [2, 2, 0, 1], [3, 3, 0, 1 / 3]]);
  assert.equal(at(0, 0.25).length, 4); // copy is too narrow
});

test('arrows walk the tree and stop at its ends', () => {
  const t = new Tree(flame);
  assert.equal(t.next(0, 'ArrowDown'), 1);
  assert.equal(t.next(1, 'ArrowDown'), 2);
  assert.equal(t.next(2, 'ArrowRight'), 4);
  assert.equal(t.next(4, 'ArrowRight'), 4);
  assert.equal(t.next(4, 'ArrowDown'), 4);
  assert.equal(t.next(3, 'ArrowUp'), 2);
  assert.equal(t.next(0, 'ArrowUp'), 0);
  assert.equal(t.next(0, 'ArrowLeft'), 0);
});

test('a search counts nested frames once', () => {
  const t = new Tree(flame);
  assert.deepEqual([...t.found('SPIN lib').nodes], [4]);
  assert.equal(t.found('spin').value, 3);
  assert.equal(t.found('a').value, 10); // main holds all others
  assert.equal(t.found('  ').nodes.size, 0);
});

test('beside a baseline a change is told by points of the whole', () => {
  const t = new Tree({ ...flame, before: [1, 1, 0.3, 0.2, 0.49] });
  assert.equal(Math.round((t.grew(2) ?? 0) * 100), 30);
  assert.deepEqual([0, 1, 2, 3, 4].map((n) => t.change(n)), ['', '', 'more3', '', 'less3']);
  const noisy = new Tree({ ...flame, before: [1, 1, 0.3, 0.2, 0.49], chance: [2] });
  assert.deepEqual([2, 4].map((n) => noisy.change(n)), ['', 'less3']);
  assert.equal(new Tree(flame).grew(2), null);
  assert.equal(new Tree(flame).change(2), '');
});

test('a node lies within those above it', () => {
  const t = new Tree(flame);
  assert.ok(t.within(3, 2) && t.within(3, 3) && t.within(3, 0));
  assert.ok(!t.within(4, 2));
});

test('a profile of nothing draws the whole only', () => {
  const t = new Tree({ ...flame, total: 0, frames: [], objects: [], kinds: [], parent: [-1], frame: [-1], value: [0] });
  assert.deepEqual(t.boxes(0, 0).length, 1);
  assert.equal(t.name(0), 'all');
});
