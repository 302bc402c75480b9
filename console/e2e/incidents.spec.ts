import { dialog, expect, field, openAs, row, test } from './fixtures';
import { Caller, eventually, fault, newBooking, press, type Schemas } from './service';

test('an incident is resolved', async ({ page, t }) => {
  const booking = await newBooking({});
  await fault(booking, 'webhook', 'wrong_amount');
  await press(booking, 'succeed');
  const admin = await Caller.as('ADMIN');
  const found = () =>
    eventually('the incident', async () => {
      const { data } = await admin.get<{ data: Schemas['Incident'][] }>(
        '/api/v1/admin/incidents?kind=AMOUNT_MISMATCH&sort=-created_at',
      );
      return data.find(({ booking_id }) => booking_id === booking.id);
    });
  expect((await found()).status).toBe('OPEN');

  await openAs(page, 'FINANCE_ADMIN', '/incidents?kind=AMOUNT_MISMATCH');
  await row(page, booking.booking_number).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('incident.resolve') })
    .click();
  const form = dialog(page, t('incident.resolve'));
  await field(form, t('incident.whatWasDone')).fill('The money has gone back');
  await form.getByRole('button', { name: t('incident.resolve') }).click();
  await expect(form).toBeHidden();
  await expect(row(page, booking.booking_number)).toHaveCount(0);
  const resolved = await found();
  expect(resolved).toMatchObject({ status: 'RESOLVED', note: 'The money has gone back' });
});
