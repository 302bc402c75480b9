import { expect, type Page } from '@playwright/test';

export interface Look {
  language: 'ar' | 'en';
  width: number;
  dark?: boolean;
}

/** Opens a page of the console as one of the demo's users; whatever the page complains about is in the answer. */
export async function openAs(
  page: Page,
  user: string,
  path: string,
  { language, width, dark = false }: Look,
): Promise<string[]> {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // Answers of the API that are errors are shown by the page, and looked at by their own tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && page.url() !== 'about:blank' && host !== new URL(page.url()).host)
      complaints.push(`a request to ${host}`);
  });
  await page.setViewportSize({ width, height: 860 });
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
  await page.addInitScript((chosen) => {
    localStorage.setItem('rihla.language', chosen);
  }, language);
  await page.goto(`/console/sign-in?back=${encodeURIComponent(path)}`);
  await page.locator('input[name=email]').fill(`${user}@rihla.test`);
  await page.locator('input[name=password]').fill('rihla-dev-password');
  await page.locator('button[type=submit]').click();
  await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0, { timeout: 15_000 });
  return complaints;
}
