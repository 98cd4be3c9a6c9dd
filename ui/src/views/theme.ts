// Light and dark: what the system says, until the reader says otherwise.
import { h } from './dom';

let listeners: (() => void)[] = [];
const system = matchMedia('(prefers-color-scheme: dark)');

/** onTheme calls f at each change, until what it returns is called. */
export function onTheme(f: () => void): () => void {
  listeners.push(f);
  return () => {
    listeners = listeners.filter((x) => x !== f);
  };
}

export function dark(): boolean {
  const set = document.documentElement.dataset['theme'];
  return set ? set === 'dark' : system.matches;
}

function set(theme: string | undefined): void {
  if (theme) document.documentElement.dataset['theme'] = theme;
  else delete document.documentElement.dataset['theme'];
  for (const f of listeners) f();
}

export function themeButton(): HTMLElement {
  const button = h('button', { type: 'button', id: 'theme' });
  const name = () => {
    button.textContent = dark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Switch to the ${dark() ? 'light' : 'dark'} theme`);
  };
  name();
  onTheme(name);
  button.addEventListener('click', () => set(dark() ? 'light' : 'dark'));
  system.addEventListener('change', () => listeners.forEach((f) => f()));
  return button;
}

/** printing: the page is drawn for paper now. */
export function printing(): boolean {
  return document.documentElement.classList.contains('paper');
}

/** onPaper turns the page light and opens all of it while it is printed. */
export function onPaper(open: () => () => void): void {
  let restore: (() => void) | null = null;
  window.addEventListener('beforeprint', () => {
    if (restore) return;
    const was = document.documentElement.dataset['theme'];
    const close = open();
    set('light');
    restore = () => {
      close();
      set(was);
    };
  });
  window.addEventListener('afterprint', () => {
    restore?.();
    restore = null;
  });
}

/** color reads one of the style sheet's variables, for what is drawn by hand. */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
