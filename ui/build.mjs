// Bundles src/ into the scripts (of a written page, of a running watch's, of snag serve's two) and the one style that
// report/page embeds.
import { build } from 'esbuild';
import { copyFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const common = { bundle: true, logLevel: 'warning', absWorkingDir: at('.') };

if (process.argv[2] === 'test') {
  const tests = readdirSync(at('test')).filter((f) => f.endsWith('.test.ts'));
  await build({ ...common, entryPoints: tests.map((f) => `test/${f}`), outdir: at('out'), platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' } });
} else {
  const out = { ...common, minify: true, target: ['chrome100', 'firefox100', 'safari15'], legalComments: 'inline', charset: 'utf8' };
  await build({ ...out, entryPoints: ['src/main.ts'], outfile: at('../report/page/bundle/page.js'), format: 'iife' });
  await build({ ...out, entryPoints: ['src/live.ts'], outfile: at('../report/page/bundle/live.js'), format: 'iife' });
  await build({ ...out, entryPoints: ['src/board.ts'], outfile: at('../report/page/bundle/board.js'), format: 'iife' });
  await build({ ...out, entryPoints: ['src/fleet.ts'], outfile: at('../report/page/bundle/fleet.js'), format: 'iife' });
  await build({ ...out, entryPoints: ['src/page.css'], outfile: at('../report/page/bundle/page.css') });
  copyFileSync(at('node_modules/uplot/LICENSE'), at('../report/page/bundle/uPlot.LICENSE'));
}
