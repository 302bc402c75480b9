import type { Choice } from '@/components/Filters';
import { useWords } from '@/i18n/useWords';
import type en from '@/i18n/en.json';

export type EnumWord = keyof (typeof en)['enum'];

/** The words of values that the API knows, and lists of them to choose from. */
export function useChoices() {
  const { t } = useWords();
  const word = (value: EnumWord) => t(`enum.${value}`);
  const choices = (values: readonly EnumWord[]): Choice[] => values.map((value) => ({ value, label: word(value) }));
  return { word, choices };
}

export const words = {
  bookingStatus: ['PENDING_PAYMENT', 'CONFIRMED', 'PAYMENT_FAILED', 'CANCELLED'],
  transactionStatus: ['PENDING', 'PAID', 'FAILED', 'REFUNDED', 'PARTIAL_REFUND'],
  method: ['credit_card', 'debit_network', 'wallet_a', 'wallet_b', 'bill_payment'],
  gateway: ['gateway_a', 'wallet_b'],
  refundStatus: ['PENDING', 'SUCCEEDED', 'FAILED'],
  refundType: ['FULL', 'PARTIAL', 'POLICY'],
  channel: ['GATEWAY', 'MANUAL'],
  balanceStatus: ['IN_CURRENT_BALANCE', 'TRANSFERRED', 'REFUNDED'],
  incidentStatus: ['OPEN', 'RESOLVED'],
  incidentKind: [
    'AMOUNT_MISMATCH',
    'CURRENCY_MISMATCH',
    'LATE_PAYMENT',
    'REFUND_FAILED',
    'UNKNOWN_REFERENCE',
    'GATEWAY_OUTAGE',
    'AUDIT_DIFFERENCE',
    'REFUND_MISMATCH',
    'REFUND_WITHOUT_ORDER',
    'UNKNOWN_EVENT',
    'WEBHOOK_ID_REUSED',
    'REFERENCE_CONFLICT',
    'PAYMENT_DISPUTED',
    'OUTSIDE_REFUND',
  ],
  resourceStatus: ['ACTIVE', 'INACTIVE'],
  busStatus: ['ACTIVE', 'INACTIVE', 'UNDER_MAINTENANCE'],
  tripType: ['UMRAH', 'TOURISM'],
  tripStatus: ['DRAFT', 'PUBLISHED', 'CANCELLED'],
  campaignStatus: ['PENDING_PAYMENT', 'PAYMENT_FAILED', 'SCHEDULED', 'ACTIVE', 'PAUSED', 'ENDED'],
  userState: ['ACTIVE', 'LOCKED', 'INVITED'],
} as const satisfies Record<string, readonly EnumWord[]>;
