// Numbers as people read them, as internal/units writes them in Go.

export function count(n: number): string {
  const abs = Math.abs(n);
  if (abs !== 0 && abs < 10 && !Number.isInteger(n)) return trim(n.toPrecision(2));
  return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

export function bytes(n: number): string {
  let v = n;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (Math.abs(v) < 1024 || unit === 'GiB') {
      return unit === 'B' ? `${Math.round(v)} B` : `${trim(v.toFixed(1))} ${unit}`;
    }
    v /= 1024;
  }
  return '';
}

export function seconds(s: number): string {
  const abs = Math.abs(s);
  if (abs === 0) return '0 s';
  if (abs < 1e-3) return `${Math.round(s * 1e6)} µs`;
  if (abs < 0.01) return `${trim((s * 1e3).toFixed(1))} ms`;
  if (abs < 1) return `${Math.round(s * 1e3)} ms`;
  if (abs < 120) return `${trim(s.toFixed(1))} s`;
  if (abs < 7200) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

export function percent(ratio: number): string {
  const p = 100 * ratio;
  return `${Math.abs(p) < 10 ? trim(p.toFixed(1)) : p.toFixed(0)} %`;
}

/** value writes v in a chart's unit. */
export function value(v: number, unit: string): string {
  switch (unit) {
    case 's':
      return seconds(v);
    case 'bytes':
      return bytes(v);
    case 'bytes/s':
      return `${bytes(v)}/s`;
    case 'ratio':
      return percent(v);
    case '/s':
      return `${count(v)}/s`;
  }
  return unit ? `${count(v)} ${unit}` : count(v);
}

/** bare is a subject without its network namespace, which is in its tooltip. */
export function bare(subject: string): string {
  return subject.replace(/ \(netns [^)]*\)/g, '');
}

/** compact is a subject in n letters: without addresses where they are too long, then of a process' socket the process. */
export function compact(subject: string, n: number): string {
  const all = bare(subject);
  const ports = all.replace(/(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\]):(?=\d)/g, ':').replace(/ (tcp|udp) /g, ' ');
  const process = /^.*?\[\d+\]/.exec(all)?.[0] ?? ports;
  return [all, ports, process].find((text) => text.length <= n) ?? shortened(process, n);
}

/** shortened leaves out the middle of what is longer than n letters: an address' port is at its end. */
export function shortened(text: string, n: number): string {
  if (text.length <= n) return text;
  const tail = Math.floor(n * 0.45);
  return `${text.slice(0, n - tail - 1)}…${text.slice(text.length - tail)}`;
}

function trim(s: string): string {
  return s.includes('.') ? s.replace(/\.?0+$/, '') : s;
}
