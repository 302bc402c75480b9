import { dialog, expect, expectAccessible, field, inEveryLook, open, openAs, test } from './fixtures';
import { askToCancel, Caller, newBooking, only, paidBooking, type Schemas } from './service';

const bookingOf = async ({ id }: Schemas['Booking']) =>
  (await (await Caller.as('END_USER')).get<{ data: Schemas['Booking'] }>(`/api/v1/bookings/${id}`)).data;

test('passengers are cancelled with what the dialog shows', inEveryLook, async ({ page, t, look }) => {
  const booking = await paidBooking({ seats: 4, departs: 40 });
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('cancel.start') }).click();
  const form = dialog(page, t('cancel.title', { number: booking.booking_number }));
  await expect(form.locator('[type=submit]')).toBeDisabled();
  for (const name of ['Passenger 1', 'Passenger 2', 'Passenger 3']) await form.getByRole('checkbox', { name }).check();
  const effect = form.getByRole('region', { name: t('cancel.effect') });
  await expect(effect).toContainText('1,725.00');
  await expect(effect).toContainText(t('count.seats', { count: 3 }));
  // The plural form of the language.
  await expect(form.locator('[type=submit]')).toContainText(look.language === 'ar' ? '3 مسافرين' : '3 passengers');
  await expect(form.locator('[type=submit]')).toContainText('1,725.00');
  await expect(form.getByRole('button', { name: t('cancel.keep') })).toBeVisible();
  await expectAccessible(page, 'a cancellation with its effect');

  await form.getByRole('radio', { name: t('cancel.how.AMOUNT') }).check();
  await field(form, t('cancel.amount')).fill('86.25');
  await form.getByRole('radio', { name: t('cancel.bears.PLATFORM') }).check();
  await field(form, t('cancel.reason')).fill('The bus was late');
  await expect(form.locator('[type=submit]')).toContainText('86.25');
  const sent = page.waitForRequest((request) => request.url().endsWith('/cancel'));
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  expect((await sent).headers()['idempotency-key']).toBeTruthy();
  expect(await bookingOf(booking)).toMatchObject({ status: 'CONFIRMED', seats: 1 });

  // The page says who does not travel any more, and what went back, and by when.
  const passengers = page.getByRole('region', { name: t('field.passengers') });
  await expect(passengers.locator('s')).toHaveText(['Passenger 1', 'Passenger 2', 'Passenger 3']);
  await expect(passengers.getByText(t('enum.CANCELLED'))).toHaveCount(3);
  await expect(page.getByRole('region', { name: t('nav.refunds') })).toContainText('86.25');
  await expect(page.locator('dl').first()).toContainText('86.25', { timeout: 30_000 });
  await expectAccessible(page, 'a booking of which a part is cancelled');
});

test('a cancellation above the limit waits for a second person, and says so first', async ({ page, t }) => {
  const booking = await paidBooking({ seats: 5 });
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('cancel.start') }).click();
  const form = dialog(page, t('cancel.title', { number: booking.booking_number }));
  // all() does not wait for the dialog.
  await expect(form.getByRole('checkbox')).toHaveCount(5);
  for (const box of await form.getByRole('checkbox').all()) await box.check();
  await expect(form.getByText(t('cancel.willWait'))).toBeVisible();
  await expect(form.locator('[type=submit]')).toContainText('5,750.00');
  await form.locator('[type=submit]').click();
  // A second person decides by the reason.
  await expect(field(form, t('cancel.reason'))).toBeFocused();
  await field(form, t('cancel.reason')).fill('The group is ill');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  await expect(page.getByText(t('booking.step.approve'))).toBeVisible();
  expect(await bookingOf(booking)).toMatchObject({ status: 'CONFIRMED', seats: 5 });
});

test('a full refund after a part went back comes to what the API names', async ({ page, t }) => {
  const booking = await paidBooking({ seats: 2, departs: 10 });
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${booking.id}/refund`, {
    refund_type: 'PARTIAL',
    amount: 300,
    reason: 'The bus was late',
  });
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('cancel.start') }).click();
  const form = dialog(page, t('cancel.title', { number: booking.booking_number }));
  await form.getByRole('checkbox', { name: 'Passenger 1' }).check();
  await form.getByRole('radio', { name: t('cancel.how.FULL') }).check();
  await expect(form.locator('[type=submit]')).toContainText('1,000.00');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  await expect.poll(async () => (await bookingOf(booking)).seats).toBe(1);
});

test('an open request stands on the booking, and leads to its drawer', async ({ page, t }) => {
  const booking = await paidBooking({ seats: 2 });
  const request = await askToCancel(booking, 1);
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  await expect(page.getByText(t('booking.stepOfOthers.decide'))).toBeVisible();
  await expect(page.getByRole('button', { name: t('cancel.start') })).toHaveCount(0);
  await page.getByRole('link', { name: t('booking.open') }).click();
  await expect(page).toHaveURL(new RegExp(`#${request.id}$`));
  await expect(dialog(page, new RegExp(t('cancellation.title')))).toContainText('Passenger 1');
  await page.goBack();
  await expect(page).toHaveURL(new RegExp(`/bookings/${booking.id}$`));
});

test('support corrects a booking, sends a message again and notes why', async ({ page, t, complaints }) => {
  complaints.expected.add(422).add(429);
  const booking = await paidBooking({ seats: 2 });
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('desk.correct') }).click();
  const form = dialog(page, t('desk.correctOf', { number: booking.booking_number }));
  await expect(form.locator('[type=submit]')).toBeDisabled();
  await expectAccessible(page, 'a correction');
  await field(form, t('field.phone')).fill('12');
  await field(form, t('desk.passengerName', { number: 2 })).fill('Sara Al-Otaibi');
  await form.locator('[type=submit]').click();
  // The API's refusal stands at its field.
  await expect(field(form, t('field.phone'))).toHaveAttribute('aria-invalid', 'true');
  await field(form, t('field.phone')).fill('٠٥٠ ١١١ ٢٢٣٣');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  expect(await bookingOf(booking)).toMatchObject({
    contact: { ...booking.contact, phone: '+966501112233' },
    passengers: [{ name: 'Passenger 1' }, { name: 'Sara Al-Otaibi' }],
  });
  await expect(page.getByRole('region', { name: t('field.passengers') })).toContainText('Sara Al-Otaibi');

  await page.getByRole('button', { name: t('desk.resend') }).click();
  const again = dialog(page, t('desk.resendOf', { number: booking.booking_number }));
  await again.getByRole('radio', { name: t('desk.kind.TICKET') }).check();
  await again.locator('[type=submit]').click();
  await expect(again).toBeHidden();
  await expect(page.getByText('c***@rihla.test')).toBeVisible();
  await page.getByRole('button', { name: t('desk.resend') }).click();
  await again.getByRole('radio', { name: t('desk.kind.TICKET') }).check();
  await again.locator('[type=submit]').click();
  await expect(again.getByRole('alert')).toContainText('RATE_LIMITED');
  await again.getByRole('button', { name: t('action.cancel') }).click();

  await page.getByLabel(t('incident.addNote')).fill('Called about the spelling');
  await page.getByRole('button', { name: t('incident.addNoteGo') }).click();
  await expect(page.getByRole('region', { name: t('desk.notes') }).getByRole('listitem')).toContainText(
    'Called about the spelling',
  );
});

test('support cancels a booking that was not paid; finance does not', async ({ page, t }) => {
  const booking = await newBooking({ seats: 2 });
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await expect(page.getByRole('button', { name: t('checkout.send') })).toBeVisible();
  await expect(page.getByRole('button', { name: t('unpaid.cancel') })).toHaveCount(0);
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('unpaid.cancel') }).click();
  const form = dialog(page, t('unpaid.title', { number: booking.booking_number }));
  await expectAccessible(page, 'cancelling an unpaid booking');
  await form.getByRole('button', { name: t('unpaid.go', { seats: t('count.seats', { count: 2 }) }) }).click();
  await expect(form).toBeHidden();
  await expect(page.getByRole('button', { name: t('unpaid.cancel') })).toHaveCount(0);
  expect(await bookingOf(booking)).toMatchObject({ status: 'CANCELLED' });
});

test('nothing of a booking is cut off at 1366 pixels', inEveryLook, async ({ page, t, look }) => {
  const booking = await paidBooking({ seats: 2, departs: 40 });
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${booking.id}/cancel`, {
    passenger_ids: [booking.passengers[0]?.id],
    refund: 'POLICY',
  });
  const path = `/api/v1/admin/refunds?booking_id=${booking.id}`;
  await expect.poll(async () => (await only<Schemas['Refund']>(finance, path)).status).toBe('SUCCEEDED');
  if (look.width > 768) await page.setViewportSize({ width: 1366, height: 860 });
  await openAs(page, 'FINANCE_ADMIN');
  await open(page, `/bookings/${booking.id}`);
  await expect(page.getByRole('region', { name: t('nav.refunds') }).getByRole('table')).toBeVisible();
  const cut = await page
    .locator('main [role=group]')
    .evaluateAll((tables) =>
      tables.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.getAttribute('aria-label')),
    );
  expect(cut).toEqual([]);
});
