import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { marked } from 'marked';
import { defineConfig } from 'vitest/config';

// The service that `npm run dev` talks to.
const service = process.env['RIHLA_URL'] ?? 'http://127.0.0.1:8080';

/** What console.go sends with every file: `npm run preview` is as strict. */
const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'",
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join('; ');

const features = 'camera=(self), microphone=(), geolocation=(), payment=(), usb=()';

/** Help texts are HTML before they reach the browser, which then needs no parser of Markdown. */
const markdown = {
  name: 'markdown',
  enforce: 'pre' as const,
  transform(text: string, id: string) {
    if (!id.endsWith('.md')) return null;
    return { code: `export default ${JSON.stringify(marked.parse(text, { async: false }))};`, map: null };
  },
};

export default defineConfig({
  base: '/console/',
  plugins: [react(), markdown],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    sourcemap: false,
    // Which file needs which: for scripts/size.mjs, and not handed out.
    manifest: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A file that became a data: address would need `data:` in more places of the Content-Security-Policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      output: {
        // Few files: what every page needs is one; what lists and forms need besides is one each; and each page one more. A group
        // takes what it needs along, so that what is needed most comes first. The first load, the overview's, has a bound:
        // scripts/size.mjs.
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: /node_modules[\\/](?!uplot|qr[\\/]|@tanstack[\\/](react-)?virtual|@mantine[\\/]core[\\/]esm[\\/]components[\\/](Combobox|Select|MultiSelect|Pill|PillsInput|Checkbox|Radio|Textarea|PasswordInput|Progress|FileButton)[\\/])/,
              priority: 5,
            },
            {
              name: 'parts',
              test: /src[\\/](api|app|components|hooks|lib|shared)[\\/](?!Data(Table|Row)|ListPage|Filters|SortHead|table\.module|use(List|Filters|BaseFilters))/,
              priority: 4,
            },
            { name: 'fields', test: /src[\\/]forms[\\/]|@mantine[\\/]core[\\/]/, priority: 3 },
            { name: 'lists', test: /node_modules[\\/]@tanstack[\\/]|src[\\/](components|hooks)[\\/]/, priority: 2 },
          ],
        },
      },
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    fs: { allow: ['.', '../docs/console'] },
    proxy: { '/api': service, '/openapi.json': service, '/.well-known': service },
  },
  preview: {
    port: 4173,
    strictPort: true,
    headers: { 'Content-Security-Policy': policy, 'Permissions-Policy': features },
  },
  test: { include: ['src/**/*.test.ts', 'src/**/*.test.tsx'] },
});
