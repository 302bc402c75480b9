import { dialog, expect, expectAccessible, field, open, openAs, row, test } from './fixtures';
import { Caller, fault, newTrip, paidBooking, type Schemas } from './service';

test('support tells what a cancellation gives back, and cancels nothing', async ({ page, t }) => {
  const booking = await paidBooking({ seats: 3, departs: 60 });
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('cancelQuote.start') }).click();
  const quote = dialog(page, t('cancelQuote.title'));
  await expect(quote).toContainText(t('cancel.choose'));
  await quote.getByRole('checkbox').first().check();
  const effect = quote.getByRole('region', { name: t('cancel.effect') });
  await expect(effect).toContainText('575.00');
  await expect(effect).toContainText(t('cancel.ways.GATEWAY'));
  await expect(effect).toContainText(t('cancel.arrivesBy', { when: '' }).trim());
  await expect(quote).toContainText(t('cancelQuote.ask'));
  await expect(quote.getByRole('button', { name: t('cancel.start') })).toHaveCount(0);
  await expectAccessible(page, 'what a cancellation gives back');
  await page.keyboard.press('Escape');
  await expect(quote).toBeHidden();

  // Who may cancel is shown the same there, and has no second way to it.
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await expect(page.getByRole('button', { name: t('cancel.start') })).toBeVisible();
  await expect(page.getByRole('button', { name: t('cancelQuote.start') })).toHaveCount(0);
});

test('a booking of a called-off trip says so, whose turn it is, and by when the money comes', async ({
  page,
  t,
  complaints,
}) => {
  complaints.expected.add(404).add(403);
  const trip = await newTrip();
  const booking = await paidBooking({ trip });
  await fault(booking, 'refund', 'reject');
  const admin = await Caller.as('ADMIN');
  await admin.post(`/api/v1/provider/trips/${trip.id}/cancel`, { reason: 'Storm', expected_refund_total: 1150 });
  await openAs(page, 'SUPPORT_AGENT', `/trip-cancellations/${trip.id}`);
  await expect(page.locator('main')).toContainText(t('calledOff.standing.payOut'));

  await open(page, `/bookings/${booking.id}`);
  const main = page.locator('main');
  await expect(main.getByRole('status').filter({ hasText: 'Storm' })).toBeVisible();
  await expect(main).toContainText(trip.title);
  await expect(main).toContainText(t('booking.stepOfOthers.payOut'));
  await expect(main).toContainText(t('booking.step.arrives', { when: '' }).replace(/[\s.]+$/, ''));

  // Who called the trip off is no second person beside themselves: that is said before anything is typed.
  await openAs(page, 'ADMIN', `/refunds?needs_payout=true&search=${booking.booking_number}`);
  await row(page, booking.booking_number).click();
  const refund = dialog(page, t('refund.title'));
  await expect(refund).toContainText(t('refund.ownTrip'));
  await expect(refund.getByRole('button', { name: t('refund.confirmPayout') })).toBeDisabled();
  await expectAccessible(page, 'a payout that another person confirms');

  await openAs(page, 'FINANCE_ADMIN', `/refunds?needs_payout=true&search=${booking.booking_number}`);
  await row(page, booking.booking_number).click();
  await refund.getByRole('button', { name: t('refund.confirmPayout') }).click();
  const payout = page.getByRole('dialog', { name: t('refund.confirmPayout'), exact: true });
  await field(payout, t('field.payoutReference')).fill(`BANK-${booking.booking_number}`);
  await payout.locator('[type=submit]').click();
  await expect(payout).toBeHidden();
  await open(page, `/bookings/${booking.id}`);
  await expect(main).toContainText(t('booking.step.arrives', { when: '' }).replace(/[\s.]+$/, ''));
});

test('a booking whose trip waits to be called off says who decides', async ({ page, t, complaints }) => {
  complaints.expected.add(404);
  const trip = await newTrip();
  const booking = await paidBooking({ trip, seats: 9 });
  await paidBooking({ trip, seats: 9 });
  const admin = await Caller.as('ADMIN');
  await admin.post(`/api/v1/provider/trips/${trip.id}/cancel`, { reason: 'Few', expected_refund_total: 20700 });
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  const main = page.locator('main');
  await expect(main.getByRole('status').filter({ hasText: 'Few' })).toBeVisible();
  await expect(main.locator('dl').first()).not.toContainText(
    t('booking.step.travel', { when: '' }).replace(/[\s.]+$/, ''),
  );
});

test('a booking that was paid twice says what became of the second amount', async ({ page, t }) => {
  const booking = await paidBooking();
  const checkout = new URL(booking.payment.checkout_url ?? '');
  const again = await fetch(`${checkout.origin}/sandbox/checkouts/${checkout.pathname.split('/').at(-1)}/pay-again`, {
    method: 'POST',
  });
  expect(again.ok).toBe(true);
  const support = await Caller.as('SUPPORT_AGENT');
  const read = () => support.get<{ data: Schemas['Booking'] }>(`/api/v1/bookings/${booking.id}`);
  await expect
    .poll(async () => (await read()).data.refunds?.map(({ status }) => status), { timeout: 60_000 })
    .toEqual(['SUCCEEDED']);
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  const done = t('payment.twice.DONE', { taken: '\u0000' }).split('\u0000')[1] ?? '';
  await expect(page.locator('main').getByRole('status').filter({ hasText: done.trim() })).toBeVisible();
  await expect(row(page, t('enum.SECOND_DEBIT'))).toContainText(t('payment.state.DONE'));
  await expect(row(page, t('enum.SECOND_DEBIT'))).not.toContainText(t('enum.FAILED'));
});

test('before a message is sent again, it says where it goes and what it is', async ({ page, t }) => {
  const booking = await paidBooking();
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('desk.resend') }).click();
  const again = dialog(page, t('desk.resendOf', { number: booking.booking_number }));
  await expect(again).toContainText(booking.contact.email);
  await expect(again).toContainText(booking.contact.phone);
  await expect(again).toContainText(t('desk.kindHint.TICKET'));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: t('desk.correct') }).click();
  const correct = dialog(page, t('desk.correctOf', { number: booking.booking_number }));
  await field(correct, t('field.email')).fill('customer@');
  await correct.locator('[type=submit]').click();
  await expect(correct).toContainText(t('form.noEmail'));
});

test('support opens the ticket as the customer has it', async ({ page, t }) => {
  const booking = await paidBooking({ departs: 60 });
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  const file = page.waitForEvent('download');
  await page.getByRole('button', { name: t('desk.ticket') }).click();
  expect((await file).suggestedFilename()).toMatch(/\.pdf$/);
});
