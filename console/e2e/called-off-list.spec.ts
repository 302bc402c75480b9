import { dialog, expect, expectAccessible, field, inEveryLook, open, openAs, row, test } from './fixtures';
import { Caller, newBooking, newTrip, paidBooking, paidCampaign, type Schemas } from './service';

type Answer<T> = { data: T };

/** A trip whose cancellation waits for a second person: 20,700.00 go back. */
async function waiting(reason: string): Promise<Schemas['Trip']> {
  const trip = await newTrip();
  await paidBooking({ trip, seats: 9 });
  await paidBooking({ trip, seats: 9 });
  const admin = await Caller.as('SUPER_ADMIN');
  await admin.post(`/api/v1/provider/trips/${trip.id}/cancel`, { reason, expected_refund_total: 20700 });
  return trip;
}

test('finance approves a cancellation from the list', inEveryLook, async ({ page, t, look }) => {
  test.setTimeout(180_000);
  const trip = await waiting('Too few guests');
  await openAs(page, 'FINANCE_ADMIN', '/');
  const tile = page.getByRole('main').getByRole('link', { name: t('wait.callOffs') });
  await expect(tile).toHaveAttribute('href', /trip-cancellations\?needs_approval=true$/);
  await expect(tile.locator('b')).toHaveText(/^[1-9]/);
  await tile.click();
  await expect(page).toHaveURL(/trip-cancellations\?needs_approval=true$/);
  const found = row(page, trip.title);
  await expect(found).toContainText(t('calledOff.badge'));
  await expect(found).toContainText('20,700.00');
  await expectAccessible(page, 'the list of called-off trips that wait');
  if (look.width >= 768)
    await expect(
      page
        .getByRole('navigation', { name: t('app.menu') })
        .getByRole('link', { name: new RegExp(`^${t('nav.trip-cancellations')} .*[1-9]`) }),
    ).toBeVisible();

  await found.click();
  await expect(page).toHaveURL(new RegExp(`/trip-cancellations/${trip.id}$`));
  const main = page.locator('main');
  await expect(main.getByRole('heading', { level: 1 })).toContainText(trip.title);
  await expect(main).toContainText('Too few guests');
  await expect(main).toContainText(trip.provider_name);
  await main.getByRole('button', { name: /20,700\.00/ }).click();
  const decision = page.getByRole('dialog', { name: t('calledOff.approve'), exact: true });
  await decision.getByRole('button', { name: /20,700\.00/ }).click();
  await expect(decision).toBeHidden();
  await expect(main).toContainText(t('calledOff.standing.done'));
  await page.goBack();
  await expect(row(page, trip.title)).toHaveCount(0);
  await open(page, `/trip-cancellations?trip_id=${trip.id}`);
  await expect(row(page, trip.title)).toContainText(t('state.tripCancellation.CANCELLED'));
});

test('after a rejection the trip leads to the cancellation that ended', async ({ page, t }) => {
  const trip = await waiting('No guide');
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/provider/trips/${trip.id}/cancel/reject`, { note: 'A guide was found' });
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  await row(page, trip.title).click();
  const drawer = dialog(page, trip.title);
  await expect(drawer).toContainText(t('calledOff.ended'));
  await expectAccessible(page, 'a trip that was to be called off');
  await drawer.getByRole('link', { name: t('calledOff.show') }).click();
  await expect(page.locator('main')).toContainText('A guide was found');
  await expect(page.locator('main')).toContainText(t('calledOff.standing.rejected'));
});

test('the effect of calling a trip off has what goes back for campaigns', async ({ page, t }) => {
  const trip = await newTrip();
  await paidCampaign(trip, 2);
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  await row(page, trip.title).click();
  await dialog(page, trip.title)
    .getByRole('button', { name: t('calledOff.start') })
    .click();
  const effect = page.getByRole('region', { name: t('calledOff.effect') });
  await expect(effect).toContainText(t('calledOff.campaignsBack'));
  const company = await Caller.as('PROVIDER_ADMIN');
  const { data } = await company.get<Answer<Schemas['TripCancellationPreview']>>(
    `/api/v1/provider/trips/${trip.id}/cancel-preview`,
  );
  expect(data.campaign_refund_total).toBeGreaterThanOrEqual(1000);
  await expect(effect).toContainText(data.campaign_refund_total.toLocaleString('en', { minimumFractionDigits: 2 }));
});

test('a moved trip says how many customers are notified before it is saved', inEveryLook, async ({ page, t }) => {
  const trip = await newTrip();
  for (let n = 0; n < 3; n++) await paidBooking({ trip, seats: 2 });
  await newBooking({ trip });
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  await row(page, trip.title).click();
  const drawer = dialog(page, trip.title);
  await drawer.getByRole('button', { name: t('action.edit') }).click();
  const form = dialog(page, t('action.edit'));
  const departure = field(form, t('field.departure'));
  const was = await departure.inputValue();
  const told = t('portal.moveTold', { count: 3, seats: t('count.seats', { count: 6 }) });
  const later = (minutes: number) => new Date(Date.parse(`${was}Z`) + minutes * 60_000).toISOString().slice(0, 16);
  await expect(form.getByRole('status')).toHaveCount(0);

  await departure.fill(later(30));
  await expect(form.getByRole('status')).toContainText(told);
  await expect(form.getByRole('status')).toContainText(t('portal.moveNoRefund'));
  await expect(form.getByRole('status')).toContainText(t('portal.moveUnpaid', { number: '1' }));

  await departure.fill(later(180));
  await expect(form.getByRole('status')).toContainText('6,900.00');
  await expect(form.getByRole('status')).toContainText(told);
  await form.getByRole('status').scrollIntoViewIfNeeded();
  await expectAccessible(page, 'moving a trip with customers');
  await form.getByRole('button', { name: t('action.save') }).click();
  await expect(form).toBeHidden();

  // Where it stands, there is nothing to say.
  await drawer.getByRole('button', { name: t('action.edit') }).click();
  await departure.fill(was);
  await expect(form.getByRole('status')).toContainText('6,900.00');
  await departure.fill(later(180));
  await expect(form.getByRole('status')).toHaveCount(0);
});
