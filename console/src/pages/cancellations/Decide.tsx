import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { cancellationQueries } from '@/api/queries/cancellations';
import ui from '@/components/ui.module.css';
import { bodyOf, type Field, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import { moneyText } from '@/lib/money';
import { amountIn } from '@/pages/bookings/cancel';
import { cancellationChanges } from './changes';

type Request = Schemas['CancellationRequest'];

/** The decision about a request that is open: the buttons say what they do. */
export function Decide({ request, asking }: { request: Request; asking: boolean }) {
  const { t, language } = useWords();
  const [name, setName] = useState<'approve' | 'reject' | null>(null);
  const orDecided = useOrDecided(request);
  const gives = (request.approval_quote ?? request.quote).refund_amount;
  const amount = moneyText(gives, language, request.quote.currency);
  const note: Field<'note'> = { name: 'note', label: t('cancellation.note'), kind: 'area' };
  const optional: FieldsOf<Schemas['ApproveCancellationRequest']> = [{ ...note, hint: t('cancellation.noteOptional') }];
  const required: FieldsOf<Schemas['RejectRefundRequest']> = [
    { ...note, hint: t('cancellation.noteHint'), required: true },
  ];
  const goes = gives > 0 ? t('cancellation.approveGoes', { amount }) : t('cancellation.approveNoMoney');
  const path = { id: request.id };
  const close = () => {
    setName(null);
  };
  const shared = {
    opened: true,
    close,
    changes: cancellationChanges,
    done: t('cancellation.rejected'),
    leaveLabel: t('action.close'),
  };
  return (
    <>
      <div className={ui.row}>
        {/* Today's terms may give more than the request says. */}
        <Button
          size="xs"
          loading={asking}
          onClick={() => {
            setName('approve');
          }}
        >
          {goes}
        </Button>
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            setName('reject');
          }}
        >
          {t('cancellation.reject')}
        </Button>
      </div>
      {name === 'approve' && (
        <FormDialog
          {...shared}
          title={t('cancellation.approve')}
          fields={optional}
          submitLabel={goes}
          keyed
          submit={async (values, key) => {
            const { data } = await orDecided(
              answered(
                api.POST('/api/v1/admin/cancellation-requests/{id}/approve', {
                  params: { path, header: { 'Idempotency-Key': key } },
                  // What was shown is what is ordered, or nothing is.
                  body: {
                    ...bodyOf<Schemas['ApproveCancellationRequest']>(optional, values, true),
                    expected_amount: gives,
                  },
                }),
              ),
            );
            return new Said(await approvedText(data));
          }}
        >
          <About request={request}>{t('cancellation.effect')}</About>
          {request.approval_quote?.needs_approval && (
            <p className={ui.notice} role="note">
              {t('cancellation.willWait')}
            </p>
          )}
        </FormDialog>
      )}
      {name === 'reject' && (
        <FormDialog
          {...shared}
          danger
          title={t('cancellation.reject')}
          fields={required}
          submitLabel={t('cancellation.reject')}
          submit={(values) =>
            orDecided(
              answered(
                api.POST('/api/v1/admin/cancellation-requests/{id}/reject', {
                  params: { path },
                  body: bodyOf<Schemas['RejectRefundRequest']>(required, values),
                }),
              ),
            )
          }
        >
          <About request={request}>{t('cancellation.rejectEffect')}</About>
        </FormDialog>
      )}
    </>
  );

  /** What an approval has done: above the limit its refund waits for a second person, and the passengers with it. */
  async function approvedText({ refund_id }: Request): Promise<string> {
    if (refund_id === null) return t('cancellation.approvedNoMoney');
    const read = await answered(api.GET('/api/v1/admin/refunds/{id}', { params: { path: { id: refund_id } } })).catch(
      () => null,
    );
    const back = read ? moneyText(read.data.amount, language, read.data.currency) : amount;
    return t(read?.data.needs_approval ? 'cancellation.approvedWaits' : 'cancellation.approved', { amount: back });
  }
}

function About({ request, children }: { request: Request; children: string }) {
  return (
    <p className={ui.text}>
      <bdi className="ltr">{request.booking_number}</bdi>
      {request.customer_name && (
        <>
          {' '}
          · <bdi>{request.customer_name}</bdi>
        </>
      )}
      <br />
      {children}
    </p>
  );
}

/**
 * Another person may have decided meanwhile, or the customer: the refusal says what. And another amount than the one that was shown may go
 * back by now: then the request is read anew.
 */
function useOrDecided({ id, quote }: Request) {
  const { t, language, label } = useWords();
  const queries = useQueryClient();
  const instead = ({ status, code, requestId }: ApiError, text: string) =>
    new ApiError(status, code, text, {}, requestId);
  return async <T,>(sent: Promise<T>): Promise<T> => {
    try {
      return await sent;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'REFUND_AMOUNT_CHANGED') {
        void queries.invalidateQueries({ queryKey: cancellationQueries.all });
        const amount = amountIn(error.fields['expected_amount']?.[0]);
        if (amount === null) throw error;
        throw instead(error, t('cancel.changed', { amount: moneyText(amount, language, quote.currency) }));
      }
      if (error.code !== 'INVALID_STATE') throw error;
      const read = await answered(
        api.GET('/api/v1/admin/cancellation-requests/{id}', { params: { path: { id } } }),
      ).catch(() => null);
      const now = read?.data;
      if (!now?.decided_at) throw error;
      const decided = { decision: label(now, 'status'), when: momentText(now.decided_at, language) };
      throw instead(error, t('cancellation.alreadyDecided', decided));
    }
  };
}
