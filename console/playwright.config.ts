import { defineConfig } from '@playwright/test';

// Runs against an API with the demo's users; CONSOLE_URL says where the console is.
export default defineConfig({
  testDir: 'e2e',
  workers: 1,
  timeout: 60_000,
  reporter: 'list',
  use: {
    baseURL: process.env['CONSOLE_URL'] ?? 'http://127.0.0.1:8181',
    launchOptions: { executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
  },
});
