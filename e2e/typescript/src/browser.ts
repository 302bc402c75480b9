// The browser in which pages are looked at.
import { env } from 'node:process';

import { type Browser, chromium } from 'playwright-core';

/** Starts Chromium. Fresh from its package it talks to its maker, which the switches end; --no-sandbox is what root needs. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
