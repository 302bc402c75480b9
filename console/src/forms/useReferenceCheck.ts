import { useState } from 'react';
import { ApiError } from '@/api/errors';
import { useWords } from '@/i18n/useWords';

const code = 'PAYOUT_REFERENCE_USED';

/**
 * Asks once more about a payout reference that another payout has: the API refuses it, the form says whose it is, and the same reference
 * sent again is meant.
 */
export function useReferenceCheck() {
  const { t } = useWords();
  const [used, setUsed] = useState<string | null>(null);
  /** Whether sending this reference confirms that it is to be used again. */
  const confirms = (reference: string) => used !== null && used === reference.trim();
  const checked = async <T>(reference: string, send: () => Promise<T>): Promise<T> => {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== code) throw error;
      setUsed(reference.trim());
      const whose = [...(error.fields['companies'] ?? []), ...(error.fields['bookings'] ?? [])];
      throw new ApiError(
        error.status,
        error.code,
        t('reference.used', {
          reference: `\u2068${reference.trim()}\u2069`,
          whose: whose.map((one) => `\u2068${one}\u2069`).join(t('list.and')),
        }),
        {},
        error.requestId,
      );
    }
  };
  return { confirms, checked };
}
