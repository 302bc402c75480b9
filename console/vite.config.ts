import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The API that `npm run dev` and the tests in a browser talk to, through dev/session.mjs.
const session = process.env['CONSOLE_SESSION'] ?? 'http://127.0.0.1:8181';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    sourcemap: false,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A file that became a data: address would need `data:` in more places of the Content-Security-Policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: { port: 5173, strictPort: true, proxy: { '/api': session, '/openapi.json': session } },
  test: { include: ['src/**/*.test.ts', 'src/**/*.test.tsx'] },
});
