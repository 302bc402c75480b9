import type { Schemas } from '@/api/client';
import type { Language } from '@/i18n';

interface Failed {
  failure_code: string | null;
  failure_code_label_ar?: string;
  failure_code_label_en?: string;
}

/** Why it failed, in words as far as the API has some; null when it has not. */
export const failureText = (row: Failed, language: Language): string | null =>
  row[`failure_code_label_${language}`] ?? row.failure_code;

interface Refunded {
  reason: string | null;
  cause_label_ar?: string;
  cause_label_en?: string;
}

/** Why it was ordered: in the words of who did or, of one that was ordered with no words, by its cause. */
export const reasonText = (row: Refunded, language: Language): string | null =>
  row.reason ?? row[`cause_label_${language}`] ?? null;

export type PaymentState = Pick<
  Schemas['PaymentTransaction'],
  'status' | 'status_label_ar' | 'status_label_en' | 'failure_code' | 'failure_code_label_ar' | 'failure_code_label_en'
>;

/** An attempt whose time was over is FAILED to the API; people read that nothing failed. */
export const isOver = ({ status, failure_code }: PaymentState) => status === 'FAILED' && failure_code === 'EXPIRED';

/** The state in words: the same in lists, in files and on the payment's page. */
export const paymentState = (payment: PaymentState, language: Language): string =>
  (isOver(payment) ? payment[`failure_code_label_${language}`] : undefined) ?? payment[`status_label_${language}`];
