// Adds up the scripts that the first load of the overview fetches, the chart included, compressed as they are served, and fails when
// they are too many bytes. Needs dist/, which the build makes.
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

const most = 300_000;

const dist = new URL('../dist/', import.meta.url);
const manifest = JSON.parse(await readFile(new URL('.vite/manifest.json', dist), 'utf8'));

/** What a page loads: a file of the sources, and everything that it imports statically. */
const files = new Set();
function take(name) {
  const chunk = manifest[name];
  if (!chunk) throw new Error(`the build has no ${name}`);
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const each of chunk.imports ?? []) take(each);
}
// Of the texts, those of one language are loaded; the Arabic ones are larger.
for (const name of [
  'index.html',
  'src/i18n/ar.json',
  'src/pages/overview/Overview.tsx',
  'src/pages/overview/Chart.tsx',
])
  take(name);

let sum = 0;
for (const file of files) {
  const { length } = gzipSync(await readFile(new URL(file, dist)), { level: 9 });
  sum += length;
  console.log(`${(length / 1000).toFixed(1).padStart(8)} kB  ${file}`);
}
console.log(`${(sum / 1000).toFixed(1).padStart(8)} kB  in all, of at most ${most / 1000} kB`);
if (sum > most) process.exitCode = 1;
