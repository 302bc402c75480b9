import type { Choice } from '@/components/Filters';
import { useWords } from '@/i18n/useWords';
import type en from '@/i18n/en.json';

export type EnumWord = keyof (typeof en)['enum'];

/** The words of values that the API knows, and lists of them to choose from. */
export function useChoices() {
  const { t } = useWords();
  const word = (value: EnumWord) => t(`enum.${value}`);
  const choices = (values: readonly EnumWord[]): Choice[] => values.map((value) => ({ value, label: word(value) }));
  /** The states of one kind of thing, in the words that the API has for them, too. */
  const states = (kind: keyof (typeof en)['state']): Choice[] => {
    const all: Record<string, Record<string, string>> = t('state', { returnObjects: true });
    return Object.entries(all[kind] ?? {}).map(([value, label]) => ({ value, label }));
  };
  const balance = (value: keyof (typeof en)['state']['balance']) => t(`state.balance.${value}`);
  return { word, choices, states, balance };
}

export const words = {
  method: ['credit_card', 'debit_network', 'wallet_a', 'wallet_b', 'bill_payment'],
  gateway: ['gateway_a', 'wallet_b'],
  refundType: ['FULL', 'PARTIAL', 'POLICY'],
  channel: ['GATEWAY', 'MANUAL'],
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
  tripType: ['UMRAH', 'TOURISM'],
  userState: ['ACTIVE', 'LOCKED', 'INVITED'],
} as const satisfies Record<string, readonly EnumWord[]>;
