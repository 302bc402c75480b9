// Makes built/ from dist/: every file compressed by gzip without name and time, so that the same source gives the same bytes.
import { execFileSync } from 'node:child_process';
import { cp, readdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../built', import.meta.url));

await rm(built, { recursive: true, force: true });
await cp(fileURLToPath(new URL('../dist', import.meta.url)), built, {
  recursive: true,
  filter: (from) => !from.endsWith('/.vite'),
});
const files = (await readdir(built, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`);
execFileSync('gzip', ['-9', '-n', ...files]);
console.log(`${files.length} files in built/`);
