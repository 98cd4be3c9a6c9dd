// What all charts have in common: the shared axis, the cursor, the drag that zooms.
import type uPlot from 'uplot';
import type { Axis } from '../model/axis';
import { value } from '../model/format';
import { color } from './theme';
import { axisWidth, pad } from './layout';

export const plotHeight = 96;
const powers = Array.from({ length: 50 }, (_x, i) => 2 ** i); // bytes are read in KiB and MiB

/** frame is a chart without its lines: ground is drawn behind them. */
export function frame(axis: Axis, width: number, unit: string, ground: (u: uPlot) => void): Omit<uPlot.Options, 'series'> {
  const ink = color('ink-2');
  const word = /^[a-z/]{2,}$/.test(unit) && unit !== 'bytes' && unit !== 'ratio' && unit !== 'bytes/s'; // stands beside the title, not at every number
  const grid = { stroke: color('rule'), width: 1 };
  const font = '11px system-ui, sans-serif';
  return {
    width, height: plotHeight, legend: { show: false }, pxAlign: 1,
    padding: [6, pad + 1, 0, 0], // the timeline's box has a border
    scales: { x: { time: false, auto: false }, y: { range: (_u, min, max) => [Math.min(0, min), max > 0 ? max * 1.12 : 1] } },
    cursor: { drag: { x: true, y: false, setScale: false, dist: 4 }, y: false, points: { size: 5 } },
    axes: [
      { stroke: ink, grid, font, ticks: { show: false }, size: 20, splits: () => axis.ticks(width > 600 ? 8 : 5), values: (_u, all) => all.map((t) => axis.clock(t, axis.shown[1] - axis.shown[0] < 5)) },
      { stroke: ink, grid, font, ticks: { show: false }, size: axisWidth, space: 30, incrs: unit.startsWith('bytes') ? powers : undefined, values: (_u, all) => all.map((v) => value(v, word ? '' : unit)) },
    ],
    hooks: {
      drawClear: [(u) => {
        u.ctx.save();
        ground(u);
        u.ctx.restore();
      }],
      setSelect: [(u) => {
        if (u.select.width > 4) axis.show(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
      setCursor: [(u) => {
        const left = u.cursor.left ?? -1;
        if (u.cursor.event) axis.point(left < 0 ? null : u.posToVal(left, 'x'));
      }],
    },
  };
}

/** follow shows the axis' range in a chart, and its cursor at its new place. */
export function follow(u: uPlot, axis: Axis): void {
  u.setScale('x', { min: axis.shown[0], max: axis.shown[1] });
  point(u, axis);
}

/** point puts the axis' cursor into a chart, by the axis' range: after a zoom the chart's own scale is still the old
 * one. A cursor outside of the range is hidden. */
export function point(u: uPlot, axis: Axis): void {
  const [from, to] = axis.shown;
  const t = axis.cursor;
  if (t === null || t < from || t > to) u.setCursor({ left: -10, top: -10 }, false);
  else u.setCursor({ left: ((t - from) / (to - from)) * u.over.clientWidth, top: plotHeight / 3 }, false);
}

/** shade fills spans of time behind a chart. */
export function shade(u: uPlot, spans: [number, number][], fill: string): void {
  u.ctx.fillStyle = fill;
  for (const [from, to] of spans) {
    const x1 = Math.max(u.valToPos(from, 'x', true), u.bbox.left);
    const x2 = Math.min(u.valToPos(to, 'x', true), u.bbox.left + u.bbox.width);
    if (x2 > x1) u.ctx.fillRect(x1, u.bbox.top, x2 - x1, u.bbox.height);
  }
}
