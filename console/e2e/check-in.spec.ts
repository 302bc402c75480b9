import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page } from '@playwright/test';
import {
  dialog,
  expect,
  expectAccessible,
  field,
  inEveryLook,
  open,
  openAs,
  row,
  settled,
  test,
  turnTo,
} from './fixtures';
import { Caller, eventually, newTrip, paidBooking, type Schemas } from './service';

interface Boarding {
  trip: Schemas['Trip'];
  booking: Schemas['Booking'];
  tokens: string[];
}

/** A trip that departs in some hours, with a paid booking and the codes of its tickets. */
async function boarding(seats: number): Promise<Boarding> {
  const trip = await newTrip(undefined, 3);
  const booking = await paidBooking({ seats, trip });
  const customer = await Caller.as('END_USER');
  const { data } = await customer.get<{ data: Schemas['Ticket'] }>(`/api/v1/bookings/${booking.id}/ticket`);
  return { trip, booking, tokens: data.passengers.map(({ token }) => token) };
}

/** The codes on a ticket as a camera sees them. */
async function pictures(context: BrowserContext, { booking }: Boarding): Promise<Buffer[]> {
  const customer = await Caller.as('END_USER');
  const ticket = await context.newPage();
  await ticket.setContent(await customer.page(`/api/v1/bookings/${booking.id}/ticket`));
  const codes = await ticket.locator('svg:not(.brand svg)').all();
  const all: Buffer[] = [];
  for (const code of codes) all.push(await code.screenshot({ animations: 'disabled' }));
  await ticket.close();
  return all;
}

const picture = (buffer: Buffer) => ({ name: 'ticket.png', mimeType: 'image/png', buffer });
const said = (page: Page) => page.getByRole('status').filter({ has: page.locator('[data-verdict]') });

async function type(page: Page, label: string, text: string): Promise<void> {
  await field(page, label).fill(text);
  await field(page, label).press('Enter');
}

/** Staff of a company cancel nothing: the platform does. */
async function cancel({ booking }: Boarding, seat: number): Promise<void> {
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${booking.id}/cancel`, {
    passenger_ids: [booking.passengers[seat]?.id],
    refund: 'NONE',
    cause: 'GOODWILL',
  });
}

const listOf = async ({ trip }: Boarding) => {
  const company = await Caller.as('PROVIDER_ADMIN');
  const path = `/api/v1/provider/trips/${trip.id}/check-ins`;
  return (await company.get<{ data: Schemas['CheckInPassenger'][] }>(path)).data;
};

test('tickets and passengers are checked in, each once, and it is said why not', inEveryLook, async ({ page, t }) => {
  const here = await boarding(4);
  const elsewhere = await boarding(1);
  const codes = await pictures(page.context(), here);
  await openAs(page, 'PROVIDER_STAFF', '/check-in');
  await page.getByRole('link', { name: here.trip.title }).click();
  await settled(page);
  const label = t('checkIn.find');
  await expect(page.getByText(t('checkIn.counted', { done: 0, count: 4 }), { exact: true })).toBeVisible();

  // A picture is read by the same reader as the camera's.
  const file = page.getByLabel(t('checkIn.picture'), { exact: true });
  await file.setInputFiles(picture(codes[0] ?? Buffer.alloc(0)));
  await expect(said(page)).toContainText(t('checkIn.verdict.CHECKED_IN'));
  await expect(said(page)).toContainText('Passenger 1');
  await expectAccessible(page, 'a passenger is checked in');
  await expect(page.getByText(t('checkIn.counted', { done: 1, count: 4 }), { exact: true })).toBeVisible();
  await file.setInputFiles(picture(codes[0] ?? Buffer.alloc(0)));
  await expect(said(page).locator('[data-verdict=ALREADY]')).toContainText(/\d\d:\d\d/);
  await file.setInputFiles(picture(Buffer.from('no picture')));
  await expect(page.getByRole('alert')).toContainText(t('checkIn.fault.unread'));

  // What a keyboard or a reader of codes types.
  await type(page, label, elsewhere.tokens[0] ?? '');
  await expect(said(page)).toContainText(t('checkIn.verdict.OTHER_TRIP'));
  await expectAccessible(page, 'a ticket of another trip');
  await type(page, label, `${here.tokens[1] ?? ''}x`);
  await expect(said(page)).toContainText(t('checkIn.verdict.INVALID'));
  await cancel(here, 3);
  await type(page, label, here.tokens[3] ?? '');
  await expect(said(page)).toContainText(t('checkIn.verdict.CANCELLED'));
  await expect(page.getByText(t('checkIn.counted', { done: 1, count: 3 }), { exact: true })).toBeVisible();

  // Without a ticket: from the list, once it is confirmed.
  await type(page, label, 'passenger 2');
  const sheet = dialog(page, t('checkIn.sure'));
  await expect(sheet).toContainText('Passenger 2');
  await expectAccessible(page, 'the question before a check-in');
  await sheet.getByRole('button', { name: t('checkIn.checkIn') }).click();
  await expect(said(page)).toContainText(t('checkIn.verdict.CHECKED_IN'));
  await expect(said(page)).toContainText('Passenger 2');
  expect((await listOf(here)).filter(({ checked_in_at }) => checked_in_at !== null)).toHaveLength(2);

  // This machine has no camera, and the page goes on without one.
  await page.getByRole('button', { name: t('checkIn.start') }).click();
  await expect(page.getByRole('alert')).toContainText(/./);
  await expect(page.getByRole('button', { name: t('checkIn.start') })).toBeVisible();

  // Every control is large enough for a thumb.
  const small = await page
    .locator('main button:visible, main input[type=search]:visible')
    .evaluateAll(
      (all, help) =>
        all
          .filter((one) => one.ariaLabel !== help && one.getBoundingClientRect().height < 44)
          .map((one) => one.outerHTML.slice(0, 120)),
      t('help.open'),
    );
  expect(small).toEqual([]);
});

test('what is checked in without a network is sent once when it is back', async ({ page, t }) => {
  const here = await boarding(3);
  await openAs(page, 'PROVIDER_STAFF', `/check-in/${here.trip.id}`);
  const label = t('checkIn.find');
  await expect(page.getByText(t('checkIn.counted', { done: 0, count: 3 }), { exact: true })).toBeVisible();

  await page.context().setOffline(true);
  await turnTo(page, '/check-in');
  await page.getByRole('link', { name: here.trip.title }).click();
  await type(page, label, here.tokens[0] ?? '');
  await expect(said(page)).toContainText(t('checkIn.verdict.SAVED'));
  await type(page, label, here.tokens[0] ?? '');
  await expect(said(page).locator('[data-verdict=ALREADY]')).toBeVisible();
  await type(page, label, 'Passenger 2');
  await dialog(page, t('checkIn.sure'))
    .getByRole('button', { name: t('checkIn.checkIn') })
    .click();
  await type(page, label, here.tokens[2] ?? '');
  await expect(page.getByText(t('checkIn.waiting', { count: 3 }))).toBeVisible();
  await expect(page.getByText(t('checkIn.counted', { done: 3, count: 3 }), { exact: true })).toBeVisible();
  await expectAccessible(page, 'check-ins that are to be sent');
  await cancel(here, 2);

  // A request whose answer is lost, and a reload: nothing is lost, and nothing is done twice.
  await page.route('**/check-ins', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    // The reload below ends the request itself.
    await route.fetch().catch(() => null);
    return route.abort().catch(() => undefined);
  });
  await page.context().setOffline(false);
  await eventually('the first sending', async () => {
    const done = (await listOf(here)).filter(({ checked_in_at }) => checked_in_at !== null);
    return done.length === 2 ? done : null;
  });
  await open(page, `/check-in/${here.trip.id}`);
  await expect(page.getByText(t('checkIn.waiting', { count: 3 }))).toBeVisible();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await open(page, `/check-in/${here.trip.id}`);
  await expect(page.getByText(t('checkIn.counted', { done: 2, count: 2 }), { exact: true })).toBeVisible();

  // Of the one that was cancelled meanwhile it is said until it is read.
  const refused = page.getByRole('region', { name: t('checkIn.refused') });
  await expect(refused.getByRole('listitem')).toHaveCount(1);
  await expect(refused).toContainText(t('checkIn.verdict.CANCELLED'));
  await expectAccessible(page, 'a check-in that was refused');
  await refused.getByRole('button', { name: t('checkIn.read') }).click();
  await expect(refused).toBeHidden();
});

test('the passenger list is printed and saved', async ({ page, t }) => {
  const here = await boarding(2);
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(here.trip.title)}`);
  await row(page, here.trip.title).click();
  await page.getByRole('link', { name: t('portal.checkIn') }).click();
  await settled(page);
  const list = page.locator('main table');
  await expect(list).toBeHidden();

  const save = async (name: string) => {
    await page.getByRole('button', { name: t('checkIn.paper.title') }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name, exact: true }).click(),
    ]);
    return readFile(await file.path());
  };
  const text = (await save(t('checkIn.paper.csv'))).toString();
  expect(text).toContain(`1,Passenger 1,${here.booking.booking_number},2,\r\n`);
  expect((await save(t('checkIn.paper.pdf'))).subarray(0, 5).toString()).toBe('%PDF-');
  expect((await save(t('checkIn.paper.documentsCsv'))).toString()).toContain('Passenger 2');

  // On paper: every passenger, and nothing of the page around.
  await page.emulateMedia({ media: 'print' });
  await expect(list.getByRole('row')).toHaveCount(3);
  await expect(list).toContainText(here.booking.booking_number);
  await expect(page.getByRole('button')).toHaveCount(0);
  await page.emulateMedia({ media: 'screen' });
});

test('names of passengers leave the device when its person signs out', async ({ page, t }) => {
  const here = await boarding(1);
  await openAs(page, 'PROVIDER_STAFF', `/check-in/${here.trip.id}`);
  await expect(page.getByText(t('checkIn.counted', { done: 0, count: 1 }), { exact: true })).toBeVisible();
  const kept = () => page.evaluate(() => JSON.stringify(localStorage));
  await expect.poll(kept).toContain('Passenger 1');
  await page.locator('header').getByRole('button').last().click();
  await page.getByRole('menuitem', { name: t('signIn.out') }).click();
  await page.waitForURL(/sign-in/);
  expect(await kept()).not.toContain('Passenger 1');
});
