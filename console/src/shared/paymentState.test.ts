import { expect, it } from 'vitest';
import { failureText, isOver, paymentState, type PaymentState } from './paymentState';

const failed: PaymentState = {
  status: 'FAILED',
  status_label_ar: 'فاشلة',
  status_label_en: 'Failed',
  failure_code: 'DECLINED',
  failure_code_label_ar: 'رُفضت عملية الدفع',
  failure_code_label_en: 'Declined',
};
const over: PaymentState = {
  ...failed,
  failure_code: 'EXPIRED',
  failure_code_label_ar: 'انتهت مهلة الدفع',
  failure_code_label_en: 'Time to pay is over',
};

it('says of an attempt whose time was over just that', () => {
  expect(isOver(over)).toBe(true);
  expect(paymentState(over, 'ar')).toBe('انتهت مهلة الدفع');
  expect(paymentState(over, 'en')).toBe('Time to pay is over');
});

it('says of every other attempt its state', () => {
  expect(isOver(failed)).toBe(false);
  expect(paymentState(failed, 'en')).toBe('Failed');
});

it('says why in words, and by its code where there are none', () => {
  expect(failureText(failed, 'ar')).toBe('رُفضت عملية الدفع');
  expect(failureText({ failure_code: 'NEW_CODE' }, 'ar')).toBe('NEW_CODE');
  expect(failureText({ failure_code: null }, 'en')).toBeNull();
});
