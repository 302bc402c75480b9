import { randomInt } from 'node:crypto';
import { choose, dialog, expect, expectAccessible, field, open, openAs, row, settled, test } from './fixtures';
import { Caller, day, eventually, newTrip, only, paidBooking, paidCampaign, type Schemas } from './service';

/** A red square. */
const photo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC',
  'base64',
);

test('a company makes a bus with a photo, and a trip with it that is sold', async ({ page, t }) => {
  const plate = `TST ${randomInt(1000, 9999)} ${randomInt(100, 999)}`;
  const title = `رحلة ${randomInt(1e6)} · Trip`;
  const departs = day(40);
  await openAs(page, 'PROVIDER_ADMIN', '/buses');
  await page.getByRole('button', { name: t('portal.add') }).click();
  const bus = dialog(page, t('portal.new.buses'));
  await field(bus, t('field.plate')).fill(plate);
  await field(bus, t('field.model')).fill('Volvo 9700');
  await field(bus, t('field.capacity')).fill('٤٤');
  await field(bus, t('field.driver')).fill('Saleh');
  await bus.getByRole('button', { name: t('action.save') }).click();
  await expect(bus).toBeHidden();

  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill(plate);
  await row(page, plate).click();
  const detail = dialog(page, plate);
  const chooser = page.waitForEvent('filechooser');
  await detail.getByRole('button', { name: t('portal.addPhotos') }).click();
  await (await chooser).setFiles({ name: 'bus.png', mimeType: 'image/png', buffer: photo });
  const picture = detail.getByRole('img', { name: t('portal.photo', { number: 1, plate }) });
  await expect(picture).toBeVisible();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);

  await open(page, '/trips');
  await page.getByRole('button', { name: t('portal.add') }).click();
  const trip = dialog(page, t('portal.new.trips'));
  await field(trip, t('field.title')).fill(title);
  await field(trip, t('field.origin')).fill('Riyadh');
  await field(trip, t('field.destination')).fill('AlUla');
  await field(trip, t('field.departure')).fill(`${departs}T08:30`);
  await field(trip, t('field.return')).fill(`${day(43)}T20:00`);
  await choose(trip, t('field.bus'), plate);
  await field(trip, t('field.hotel')).click();
  await page.getByRole('option').first().click();
  await field(trip, t('field.price')).fill('٤٥٠');
  await field(trip, t('field.capacity')).fill('40');
  await trip.getByRole('button', { name: t('action.save') }).click();
  await expect(trip).toBeHidden();

  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill(title);
  await row(page, title).click();
  await dialog(page, title)
    .getByRole('button', { name: t('portal.publish') })
    .click();
  await dialog(page, t('portal.publish'))
    .getByRole('button', { name: t('portal.publish') })
    .click();
  await expect(dialog(page, t('portal.publish'))).toBeHidden();
  const sold = await fetch(`${new URL(page.url()).origin}/api/v1/trips?search=${encodeURIComponent(title)}`);
  const { data } = (await sold.json()) as { data: Schemas['Trip'][] };
  expect(data.map(({ status, price_per_seat, capacity }) => [status, price_per_seat, capacity])).toEqual([
    ['PUBLISHED', 450, 40],
  ]);
  // 08:30 in Riyadh, wherever the browser is.
  expect(Date.parse(data[0]?.departure_at ?? '')).toBe(Date.parse(`${departs}T08:30:00+03:00`));
});

test('a company pays for a campaign at the gateway', async ({ page, t, complaints }) => {
  const trip = await newTrip();
  const company = await Caller.as('PROVIDER_ADMIN');
  const title = `Campaign ${randomInt(1e6)}`;
  await openAs(page, 'PROVIDER_ADMIN', '/campaigns');
  await page.getByRole('button', { name: t('portal.add') }).click();
  const form = dialog(page, t('portal.new.campaigns'));
  await choose(form, t('field.trip'), trip.title);
  await field(form, t('field.title')).fill(title);
  await field(form, t('field.starts')).fill(day(2));
  await field(form, t('field.ends')).fill(day(9));
  await field(form, t('field.priceNet')).fill('500');
  await form.getByRole('button', { name: t('action.save') }).click();
  await expect(form).toBeHidden();

  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill(title);
  await row(page, title).click();
  await dialog(page, title)
    .getByRole('button', { name: t('portal.pay') })
    .click();
  const pay = dialog(page, t('portal.pay'));
  const methods = (await (await fetch(`${new URL(page.url()).origin}/api/v1/payment-methods`)).json()) as {
    data: Schemas['PaymentMethodOffer'][];
  };
  expect(methods.data.length).toBeGreaterThan(0);
  await field(pay, t('field.method')).click();
  await page.getByRole('option').first().click();
  // The gateway's page is another host, to which the browser goes as a whole.
  complaints.gateway = true;
  await pay.getByRole('button', { name: t('portal.pay') }).click();
  await page.waitForURL(/\/pay\//);
  await page.locator('button[value=succeed]').click();
  const paid = await eventually('the paid campaign', async () => {
    const { data } = await company.get<{ data: Schemas['AdCampaign'][] }>(
      `/api/v1/provider/ad-campaigns?search=${encodeURIComponent(title)}`,
    );
    return data.find(({ status }) => status !== 'PENDING_PAYMENT');
  });
  expect(paid.status).toBe('SCHEDULED');
  expect([paid.price, paid.amount]).toEqual([500, 500 + paid.vat_amount]);

  // Back on the list with nothing but the search: what the return adds to the address is no filter.
  await expect(page).toHaveURL(/\/console\/campaigns\?search=[^&]*#paid-[\da-f-]{36}$/);
  await settled(page);
  await page.reload();
  await expect(row(page, title).getByText(t('enum.SCHEDULED'))).toBeVisible();
});

test('staff refund a campaign: all before it begins, else a part', async ({ page, t, complaints }) => {
  complaints.expected.add(409);
  const trip = await newTrip();
  const later = await paidCampaign(trip, 3);
  const running = await paidCampaign(trip, 0);
  await openAs(page, 'ADMIN', `/campaigns?search=${encodeURIComponent(running.title)}`);
  await row(page, running.title).click();
  await dialog(page, running.title)
    .getByRole('button', { name: t('campaign.refund') })
    .click();
  const form = dialog(page, t('campaign.refund'));
  await field(form, t('field.amount')).fill('100');
  await expectAccessible(page, 'refunding a campaign');
  // It has begun: what the API refuses stays beside what was entered.
  await form.getByRole('radio', { name: t('enum.FULL') }).check();
  await form.locator('[type=submit]').click();
  await expect(form.getByRole('alert')).toBeVisible();
  await form.getByRole('radio', { name: t('enum.PARTIAL') }).check();
  await expect(field(form, t('field.amount'))).toHaveValue('100');
  await form.getByRole('button', { name: /100\.00/ }).click();
  await expect(form).toBeHidden();

  // Finance has no page of campaigns, and finds the payment.
  const finance = await Caller.as('FINANCE_ADMIN');
  const payment = await only<Schemas['PaymentTransaction']>(
    finance,
    `/api/v1/admin/payment-transactions?ad_campaign_id=${later.id}`,
  );
  await openAs(page, 'FINANCE_ADMIN', `/payments/${payment.id}`);
  await page.getByRole('button', { name: t('campaign.refund') }).click();
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  const company = await Caller.as('PROVIDER_ADMIN');
  await eventually('the end of the campaign', async () => {
    const { data } = await company.get<{ data: Schemas['AdCampaign'] }>(`/api/v1/provider/ad-campaigns/${later.id}`);
    return data.status === 'CANCELLED' ? data : null;
  });
});

test('a declined payment of a campaign is said where it comes back to, and tried again', async ({
  page,
  t,
  complaints,
}) => {
  const trip = await newTrip();
  const company = await Caller.as('PROVIDER_ADMIN');
  const title = `Campaign ${randomInt(1e6)}`;
  await company.post('/api/v1/provider/ad-campaigns', {
    trip_id: trip.id,
    title,
    starts_on: day(2),
    ends_on: day(9),
    price: 500,
  });
  await openAs(page, 'PROVIDER_ADMIN', `/campaigns?search=${encodeURIComponent(title)}`);
  await row(page, title).click();
  const detail = dialog(page, title);
  await detail.getByRole('button', { name: t('portal.pay') }).click();
  complaints.gateway = true;
  const pay = dialog(page, t('portal.pay'));
  for (const outcome of ['decline', 'succeed']) {
    await field(pay, t('field.method')).click();
    await page.getByRole('option').first().click();
    await pay.getByRole('button', { name: t('portal.pay') }).click();
    await page.waitForURL(/\/pay\//);
    await page.locator(`button[value=${outcome}]`).click();
    if (outcome === 'succeed') break;
    const said = page.getByRole('alert').filter({ hasText: title });
    await expect(said).toBeVisible();
    await expectAccessible(page, 'a declined payment');
    await said.getByRole('button', { name: t('portal.pay') }).click();
  }
  await expect(page.getByText(t('done.paidOrNot.paid'))).toBeVisible();
  await expect(row(page, title).getByText(t('enum.SCHEDULED'))).toBeVisible();
});

test('a trip whose title is changed leaves when it did, whatever others have changed meanwhile', async ({
  page,
  t,
}) => {
  const trip = await newTrip();
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  await row(page, trip.title).click();
  await dialog(page, trip.title)
    .getByRole('button', { name: t('action.edit') })
    .click();
  const form = dialog(page, t('action.edit'));
  await expect(field(form, t('field.title'))).toHaveValue(trip.title);

  const company = await Caller.as('PROVIDER_ADMIN');
  await company.patch(`/api/v1/provider/trips/${trip.id}`, { price_per_seat: 990 });
  await field(form, t('field.title')).fill(`${trip.title} changed`);
  await form.getByRole('button', { name: t('action.save') }).click();
  await expect(form).toBeHidden();

  const { data: after } = await company.get<{ data: Schemas['Trip'] }>(`/api/v1/provider/trips/${trip.id}`);
  expect(after).toMatchObject({
    title: `${trip.title} changed`,
    departure_at: trip.departure_at,
    return_at: trip.return_at,
    price_per_seat: 990,
  });
});

test('a company sees who travels', async ({ page, t }) => {
  const trip = await newTrip();
  const booking = await paidBooking({ trip, seats: 2 });
  await openAs(page, 'PROVIDER_STAFF', `/trips?search=${encodeURIComponent(trip.title)}`);
  await row(page, trip.title).click();
  const passengers = dialog(page, trip.title).getByRole('region', { name: t('portal.bookings') });
  await expect(passengers).toContainText(booking.booking_number);
  await expect(passengers).toContainText('Passenger 2');
  await expect(passengers).toContainText(booking.contact.phone);
});

test('a bus that is taken out of use names the published trips that use it', async ({ page, t }) => {
  const trip = await newTrip();
  const company = await Caller.as('PROVIDER_ADMIN');
  const path = `/api/v1/provider/buses/${trip.bus_id}`;
  const { data: bus } = await company.get<{ data: Schemas['Bus'] }>(path);
  await openAs(page, 'PROVIDER_ADMIN', `/buses?search=${encodeURIComponent(bus.plate_number)}`);
  await row(page, bus.plate_number).click();
  await dialog(page, bus.plate_number)
    .getByRole('button', { name: t('action.edit') })
    .click();
  const form = dialog(page, t('action.edit'));
  await choose(form, t('field.status'), t('state.bus.UNDER_MAINTENANCE'));
  await form.getByRole('button', { name: t('action.save') }).click();
  try {
    const affected = page.getByRole('dialog').filter({ hasText: t('portal.affectedHint') });
    await expect(affected.getByRole('link').first()).toBeVisible();
    await expectAccessible(page, 'the trips of a bus');
    await affected.getByRole('button', { name: t('action.close') }).click();
    await expect(affected).toBeHidden();
  } finally {
    await company.patch(path, { status: 'ACTIVE' });
  }
});
