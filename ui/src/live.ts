// The page of a running watch (snag watch --page): it asks for its data again and again.
import { Axis } from './model/axis';
import { fromHash } from './model/link';
import { type LiveStreams, Poller } from './model/poll';
import { h } from './views/dom';
import { streams, type StreamsView } from './views/streams';
import { onPaper, themeButton } from './views/theme';

const every = 2000; // ms between two looks
const first = 600; // seconds that are shown at the start

function start(root: HTMLElement): void {
  const where = h('span', { class: 'where' });
  const trouble = h('p', { class: 'warning', role: 'alert', hidden: true });
  const main = h('main', {}, trouble);
  root.append(h('header', {}, h('a', { class: 'skip', href: '#streams' }, 'Skip to the streams'), h('strong', { class: 'brand' }, 'snag watch'), where, themeButton()), main);
  let view: StreamsView | null = null;
  let axis: Axis | null = null;

  const take = (d: LiveStreams) => {
    trouble.hidden = true;
    if (!axis || !view) {
      axis = new Axis(d.now, d.start_ms);
      axis.grow(d.now, d.begin);
      axis.show(d.now - first, d.now);
      view = streams(d.streams, axis, true);
      main.append(view.box);
      view.draw();
    } else {
      axis.grow(d.now, d.begin);
      view.update(d.streams);
    }
    where.textContent = `${axis.clock(d.now)} UTC · ${d.own}`;
    document.title = `${d.sick > 0 ? `(${d.sick}) ` : ''}snag watch`;
  };
  const poller = new Poller(() => view?.wanted() ?? linked(), take, (why) => {
    trouble.hidden = false;
    trouble.textContent = `No new figures since ${axis ? `${axis.clock(axis.seconds)} UTC` : 'the page was opened'}: ${why}. Is snag watch still running? What is shown is of then.`;
  });
  const turn = async () => {
    if (!document.hidden) await poller.look();
    timer = window.setTimeout(() => void turn(), every);
  };
  let timer = 0;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    window.clearTimeout(timer);
    void turn();
  });
  onPaper(() => {
    document.documentElement.classList.add('paper');
    axis?.layout();
    return () => {
      document.documentElement.classList.remove('paper');
      axis?.layout();
    };
  });
  window.addEventListener('hashchange', () => void poller.look()); // the course of what is opened is there at once
  void turn();
}

/** linked are the streams that a link asks for, before anything is drawn. */
function linked(): string[] {
  const o = fromHash(location.hash);
  return o ? [o.id, o.beside].filter((id) => id !== '') : [];
}

const root = document.getElementById('page');
if (root) start(root);
