import { randomUUID } from 'node:crypto';
import { dialog, expect, expectAccessible, field, inEveryLook, openAs, test } from './fixtures';
import { Caller, linkTo, type Schemas } from './service';

const company = async () => {
  const admin = await Caller.as('PROVIDER_ADMIN');
  return (await admin.get<{ data: Schemas['Company'] }>('/api/v1/provider/company')).data;
};

const newEmail = () => `e2e-${randomUUID().slice(0, 8)}@rihla.test`;

test('a company changes who gets its messages', inEveryLook, async ({ page, t, complaints }) => {
  complaints.expected.add(422);
  const admin = await Caller.as('PROVIDER_ADMIN');
  await admin.patch('/api/v1/provider/company', { contact_persons: [] });
  await openAs(page, 'PROVIDER_ADMIN', '/company');
  const contacts = page.getByRole('region', { name: t('company.contacts') });
  await expect(contacts).toContainText(t('company.noContacts'));
  const email = newEmail();
  await contacts.getByRole('button', { name: t('company.addContact') }).click();
  const form = dialog(page, t('company.addContact'));
  await field(form, t('field.name')).fill('مكتب الحجز');
  await field(form, t('field.email')).fill(email);
  await field(form, t('field.phone')).fill('12');
  await expectAccessible(page, 'a new contact person');
  await form.getByRole('button', { name: t('action.save') }).click();
  // What the API says of the person's phone stands at the phone.
  await expect(field(form, t('field.phone'))).toHaveAttribute('aria-invalid', 'true');
  await field(form, t('field.phone')).fill('٠٥٠ ١٢٣ ٤٥٦٧');
  await form.getByRole('checkbox', { name: t('company.message.BOOKED') }).uncheck();
  await form.getByRole('button', { name: t('action.save') }).click();
  await expect(form).toBeHidden();
  await expect(contacts).toContainText(t('company.message.PAYOUT'));
  await expect(contacts).not.toContainText(t('company.message.BOOKED'));
  const { contact_persons } = await company();
  expect(contact_persons).toMatchObject([{ email, phone: '0501234567' }]);
  expect(contact_persons[0]?.messages).not.toContain('BOOKED');

  await contacts.getByRole('button', { name: `${t('action.delete')} مكتب الحجز` }).click();
  await dialog(page, t('action.delete'))
    .getByRole('button', { name: t('action.delete') })
    .click();
  await expect(contacts).toContainText(t('company.noContacts'));
});

test('a colleague is invited, and removed', async ({ page, t }) => {
  await openAs(page, 'PROVIDER_ADMIN', '/company');
  const staff = page.getByRole('region', { name: t('provider.staff') });
  const email = newEmail();
  await staff.getByRole('button', { name: t('company.invite') }).click();
  const form = dialog(page, t('company.invite'));
  await field(form, t('field.name')).fill('Driver One');
  await field(form, t('field.email')).fill(email);
  await field(form, t('field.phone')).fill('0501234567');
  await expectAccessible(page, 'an invitation');
  await form.getByRole('button', { name: t('company.invite') }).click();
  await expect(staff).toContainText(email);
  expect(await linkTo(email, 'invitation')).toContain('/invitation#');
  await staff
    .getByRole('row')
    .filter({ hasText: email })
    .getByRole('button', { name: t('action.delete') })
    .click();
  await dialog(page, t('action.delete'))
    .getByRole('button', { name: t('action.delete') })
    .click();
  await expect(staff).not.toContainText(email);
});

test('the company changes its name; its staff read it alone', async ({ page, t }) => {
  const before = await company();
  await openAs(page, 'PROVIDER_ADMIN', '/company');
  const own = page.getByRole('region', { name: before.name });
  await own.getByRole('button', { name: t('action.edit') }).click();
  const form = dialog(page, t('action.edit'));
  await field(form, t('field.phone')).fill('0559876543');
  await form.getByRole('button', { name: t('action.save') }).click();
  try {
    await expect(form).toBeHidden();
    await expect(own).toContainText('0559876543');
    expect(await company()).toMatchObject({ name: before.name, phone: '0559876543' });
    await openAs(page, 'PROVIDER_STAFF', '/company');
    await expect(page.getByRole('region', { name: before.name })).toContainText('0559876543');
    await expect(page.locator('main').getByRole('button', { name: t('action.edit') })).toHaveCount(0);
    await expect(page.getByRole('region', { name: t('provider.staff') })).toHaveCount(0);
  } finally {
    const admin = await Caller.as('PROVIDER_ADMIN');
    await admin.patch('/api/v1/provider/company', { phone: before.phone });
  }
});
