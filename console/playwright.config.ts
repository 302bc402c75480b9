import { execFileSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';
import type { Look } from './e2e/look';

const look = (name: string, language: Look['language'], width: number, scheme: Look['scheme']) => ({
  name,
  use: { look: { language, width, scheme } },
});

const looks = [
  look('ar desktop', 'ar', 1280, 'light'),
  look('en desktop', 'en', 1280, 'dark'),
  look('ar telephone', 'ar', 390, 'dark'),
  look('en telephone', 'en', 390, 'light'),
];

/** The look in which everything is played: LOOK, else that of the commit. People have limits for a day, which four times all would meet. */
const whole = process.env['LOOK'] ?? looks[ofCommit() % looks.length]?.name;

function ofCommit(): number {
  try {
    return parseInt(execFileSync('git', ['rev-parse', '--short=6', 'HEAD'], { encoding: 'utf8' }).slice(0, 6), 16);
  } catch {
    return 0; // not a clone
  }
}

/**
 * Runs against a service with the users of `rihla dev`: RIHLA_URL is its address, and RIHLA_OUTBOX the directory of its messages.
 * Pages and menus are looked at in both languages, on a desktop and on a telephone, and every flow is played in one of these looks.
 */
export default defineConfig<{ look: Look }>({
  testDir: 'e2e',
  workers: 1,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  use: {
    baseURL: process.env['RIHLA_URL'] ?? 'http://127.0.0.1:8080',
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    },
    screenshot: 'only-on-failure',
  },
  projects: looks.map((one) => {
    const narrow = one.use.look.width < 768;
    if (one.name !== whole) return { ...one, grep: narrow ? /@every-look|@telephone/ : /@every-look/ };
    return narrow ? one : { ...one, grepInvert: /@telephone/ };
  }),
});
