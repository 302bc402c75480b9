import type { Choice } from '@/components/Filters';
import {
  BalanceStatus,
  BookingStatus,
  BusStatus,
  CampaignStatus,
  CancellationRequestStatus,
  IncidentStatus,
  RefundStatus,
  ResourceStatus,
  TransactionStatus,
  TripCancellationStatus,
  TripStatus,
} from '@/gen/enums';
import { useWords } from '@/i18n/useWords';
import type en from '@/i18n/en.json';

export type EnumWord = keyof (typeof en)['enum'];

type States = (typeof en)['state'];

/** The states of each kind of thing in the document. One without a word in the texts does not compile. */
const statesOf = {
  booking: BookingStatus,
  transaction: TransactionStatus,
  refund: RefundStatus,
  balance: BalanceStatus,
  incident: IncidentStatus,
  company: ResourceStatus,
  bus: BusStatus,
  trip: TripStatus,
  campaign: CampaignStatus,
  cancellation: CancellationRequestStatus,
  tripCancellation: TripCancellationStatus,
} as const satisfies { [K in keyof States]: readonly (keyof States[K])[] };

/** The words of values that the API knows, and lists of them to choose from; the values are those of the document (gen/enums). */
export function useChoices() {
  const { t } = useWords();
  const word = (value: EnumWord) => t(`enum.${value}`);
  const choices = (values: readonly EnumWord[]): Choice[] => values.map((value) => ({ value, label: word(value) }));
  /** The states of one kind of thing, in the words that the API has for them, too. */
  const states = (kind: keyof States): Choice[] => {
    const all: Record<string, Record<string, string>> = t('state', { returnObjects: true });
    return statesOf[kind].map((value) => ({ value, label: all[kind]?.[value] ?? value }));
  };
  const balance = (value: keyof States['balance']) => t(`state.balance.${value}`);
  return { word, choices, states, balance };
}
