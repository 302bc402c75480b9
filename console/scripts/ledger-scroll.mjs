// Reads the ledger to its end by scrolling, in Chromium, and tells the longest task of the page and the slowest frame: whether a list
// of thousands of rows stays as quick as one of ten. Needs a service with enough lines:
//
//   go run . dev, go run . seed --records 10000
//   node scripts/ledger-scroll.mjs [--url http://127.0.0.1:8080] [--rows 10000] [--chromium /usr/bin/chromium]
/* global document, requestAnimationFrame -- of the page */
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    rows: { type: 'string', default: '10000' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
const wanted = Number(values.rows);

const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ['--headless=new', '--no-sandbox', '--disable-gpu'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await page.goto(`${values.url}/console/sign-in?back=/ledger`);
  await page.locator('input[name=email]').fill('finance_admin@rihla.test');
  await page.locator('input[name=password]').fill('rihla-dev-password');
  await page.locator('button[type=submit]').click();
  await page.locator('tbody tr[data-index]').first().waitFor();

  const result = await page.evaluate(async (rows) => {
    const tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({
      type: 'longtask',
    });
    const table = document.querySelector('table');
    const box = table.parentElement;
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const shown = () => Number(table.getAttribute('aria-rowcount')) - 1;
    const frames = [];
    const begun = performance.now();
    let moved = begun;
    let count = 0;
    let drawn = 0;
    while (shown() < rows && performance.now() - moved < 15_000) {
      const before = performance.now();
      // Ten rows a frame: as fast as a wheel that is spun.
      box.scrollTop += 380;
      await frame();
      frames.push(performance.now() - before);
      drawn = Math.max(drawn, table.querySelectorAll('tbody tr').length);
      if (shown() !== count) {
        count = shown();
        moved = performance.now();
      }
    }
    const read = performance.now() - begun;
    // And through all of them, without a request.
    for (box.scrollTop = 0; box.scrollTop + box.clientHeight < box.scrollHeight - 1; box.scrollTop += 760) {
      const before = performance.now();
      await frame();
      frames.push(performance.now() - before);
    }
    frames.sort((a, b) => a - b);
    const at = (share) => Math.round(frames[Math.floor((frames.length - 1) * share)]);
    return {
      rows: shown(),
      seconds: Math.round(read / 100) / 10,
      rowsInDocument: drawn,
      longTasks: tasks.length,
      longestTaskMs: Math.round(Math.max(0, ...tasks)),
      frameMs: { median: at(0.5), p99: at(0.99), slowest: at(1) },
    };
  }, wanted);
  console.log(JSON.stringify(result, null, 2));
  if (result.rows < wanted) {
    console.error(`only ${result.rows} rows came`);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
}
