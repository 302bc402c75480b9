import { expect, it } from 'vitest';
import { may } from './access';

it('shows what the document lets a role do', () => {
  expect(may('SUPPORT_AGENT', 'ListBookings')).toBe(true);
  expect(may('SUPPORT_AGENT', 'RefundBooking')).toBe(false);
  expect(may('FINANCE_ADMIN', 'ListProviders')).toBe(false);
  expect(may('END_USER', 'GetMe')).toBe(true);
  expect(may('ADMIN', 'InviteUser')).toBe(false);
  expect(may('SUPPORT_AGENT', 'ApproveRefund')).toBe(false);
});
