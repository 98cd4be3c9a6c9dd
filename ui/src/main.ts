// The page of a verdict: read → model → views.
import { axisOf } from './model/axis';
import { decoded } from './model/link';
import { read } from './read';
import { charts } from './views/charts';
import { compared } from './views/compared';
import { h, section } from './views/dom';
import { flames } from './views/flame';
import { head } from './views/head';
import { fit, scene } from './views/scene';
import { streams } from './views/streams';
import { tables } from './views/tables';
import { onPaper } from './views/theme';
import { timeline } from './views/timeline';
import { verdict } from './views/verdict';

function start(root: HTMLElement): void {
  const page = read(document);
  const axis = axisOf(page.verdict.window);
  const drawn = new Set(page.charts.map((c) => c.id));
  // In the page before they are filled: what is drawn asks how wide it is.
  const time = section('timeline', 'Timeline and the series behind the evidence');
  const watched = page.streams ? streams(page.streams, axis) : null;
  root.append(head(page, axis), h('main', {}, ...(page.comparison ? [compared(page.comparison)] : []), verdict(page, axis, (id) => drawn.has(id)), ...(watched ? [watched.box] : []), scene(page), time, ...[flames(page, axis)].filter((e) => e !== null), tables(page, axis)), foot(page));
  time.append(timeline(page, axis), charts(page, axis));
  watched?.draw();
  fit(root);
  onPaper(() => {
    const shut = [...document.querySelectorAll<HTMLDetailsElement>('details:not([open])')].filter((d) => !d.classList.contains('stack') && !d.classList.contains('many'));
    for (const d of shut) d.open = true;
    document.documentElement.classList.add('paper');
    axis.layout();
    return () => {
      shut.forEach((d) => { d.open = false; });
      document.documentElement.classList.remove('paper');
      axis.layout();
    };
  });
  window.addEventListener('hashchange', reveal);
  reveal();
}

/** reveal opens what a link points into. */
function reveal(): void {
  const at = location.hash ? document.getElementById(decoded(location.hash.slice(1))) : null;
  for (let d = at?.closest('details'); d; d = d.parentElement?.closest('details')) d.open = true;
  at?.scrollIntoView();
}

function foot(page: ReturnType<typeof read>): HTMLElement {
  const v = page.verdict;
  const late = Math.max(0, ...v.coverage.map((c) => c.late_seconds));
  const lost = v.coverage.reduce((n, c) => n + c.lost, 0);
  return h('footer', { class: 'quiet' }, `snag ${v.snag} · recording ${v.recording ?? ''} (snag show, snag judge) · latest tick ${late.toFixed(2)} s late, ${lost} events lost`);
}

const root = document.getElementById('page');
if (root) {
  try {
    start(root);
  } catch (e) {
    root.replaceChildren(h('p', { class: 'warning', role: 'alert' }, `This page could not be shown: ${e instanceof Error ? e.message : String(e)}`));
    throw e;
  }
}
