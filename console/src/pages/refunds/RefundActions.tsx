import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { bookingQueries } from '@/api/queries/bookings';
import { dashboardQueries } from '@/api/queries/dashboard';
import { incidentQueries } from '@/api/queries/incidents';
import { paymentQueries } from '@/api/queries/payments';
import { recordQueries } from '@/api/queries/records';
import { refundQueries } from '@/api/queries/refunds';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import { useMay, useMe } from '@/app/me';
import type { Operation } from '@/api/access';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type Field, type FieldsOf, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useReferenceCheck } from '@/forms/useReferenceCheck';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { dayIn, momentText } from '@/lib/dates';
import { moneyText } from '@/lib/money';
import { OrderedPreview } from './OrderedPreview';

interface Action {
  name: 'approve' | 'reject' | 'confirmPayout' | 'rejectPayout';
  operation: Operation;
  shown: boolean;
  danger: boolean;
  fields: Field[];
  submit: (values: Values) => Promise<unknown>;
  /** Whether this reference was asked about and is meant. */
  again?: (reference: string) => boolean;
}

/** What people can decide about a refund that waits for them. */
function useActions(refund: Schemas['Refund']): Action[] {
  const { t } = useWords();
  const reference = useReferenceCheck();
  const orDecided = useOrDecided(refund.id);
  const path = { id: refund.id };
  const note: Field<'note'> = { name: 'note', label: t('field.note'), kind: 'area' };
  const payout: FieldsOf<Schemas['ConfirmPayoutRequest']> = [
    { name: 'payout_reference', label: t('field.payoutReference'), required: true, hint: t('refund.referenceHint') },
    { name: 'paid_out_on', label: t('field.payoutDate'), kind: 'day', required: true },
    note,
  ];
  const whyNot: FieldsOf<Schemas['RejectRefundRequest']> = [{ ...note, required: true }];
  const why: FieldsOf<Schemas['RejectPayoutRequest']> = [
    { name: 'reason', label: t('field.reason'), kind: 'area', required: true },
  ];
  return [
    {
      name: 'approve',
      operation: 'ApproveRefund',
      shown: refund.needs_approval,
      danger: false,
      fields: [note],
      submit: (values) =>
        orDecided(
          answered(
            api.POST('/api/v1/admin/refunds/{id}/approve', {
              params: { path },
              body: bodyOf<Schemas['ApproveRefundRequest']>([note], values, true),
            }),
          ),
        ),
    },
    {
      name: 'reject',
      operation: 'RejectRefund',
      shown: refund.needs_approval,
      danger: true,
      fields: whyNot,
      submit: (values) =>
        orDecided(
          answered(
            api.POST('/api/v1/admin/refunds/{id}/reject', {
              params: { path },
              body: bodyOf<Schemas['RejectRefundRequest']>(whyNot, values),
            }),
          ),
        ),
    },
    {
      name: 'confirmPayout',
      operation: 'ConfirmRefundPayout',
      shown: refund.needs_payout,
      danger: false,
      fields: payout,
      again: reference.confirms,
      submit: (values) => {
        const body = bodyOf<Schemas['ConfirmPayoutRequest']>(payout, values, true);
        const fresh = !reference.confirms(body.payout_reference);
        return orDecided(
          reference.checked(body.payout_reference, () =>
            answered(
              api.POST('/api/v1/admin/refunds/{id}/confirm-payout', {
                params: { path },
                body: { ...body, reference_must_be_new: fresh },
              }),
            ),
          ),
          'payout',
        );
      },
    },
    {
      name: 'rejectPayout',
      operation: 'RejectRefundPayout',
      // What the gateway did not make, or what came back, is owed: it cannot be rejected.
      shown: refund.needs_payout && refund.status === 'PENDING',
      danger: true,
      fields: why,
      submit: (values) =>
        orDecided(
          answered(
            api.POST('/api/v1/admin/refunds/{id}/reject-payout', {
              params: { path },
              body: bodyOf<Schemas['RejectPayoutRequest']>(why, values),
            }),
          ),
        ),
    },
  ];
}

/** Another person may have decided meanwhile: the refusal says who, and what. */
function useOrDecided(id: string) {
  const { t, language } = useWords();
  const { word } = useChoices();
  return async <T,>(sent: Promise<T>, asked?: 'payout'): Promise<T> => {
    try {
      return await sent;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'FORBIDDEN' && asked === 'payout')
        throw new ApiError(error.status, error.code, t('refund.notSecond'), {}, error.requestId);
      if (!(error instanceof ApiError) || error.code !== 'INVALID_STATE') throw error;
      const read = await answered(api.GET('/api/v1/admin/refunds/{id}', { params: { path: { id } } })).catch(
        () => null,
      );
      const { approval, payout_decided_at, payout_decided_by_name, payout_reference } = read?.data ?? {};
      const decided = payout_decided_at
        ? {
            decision: t(payout_reference ? 'refund.paidOut' : 'refund.notPaidOut'),
            name: payout_decided_by_name,
            at: payout_decided_at,
          }
        : approval && { decision: word(approval.decision), name: approval.decided_by_name, at: approval.decided_at };
      if (!decided) throw error;
      throw new ApiError(
        error.status,
        error.code,
        t('refund.alreadyDecided', {
          decision: decided.decision,
          name: `\u2068${decided.name ?? '–'}\u2069`,
          when: momentText(decided.at, language),
        }),
        {},
        error.requestId,
      );
    }
  };
}

/** Whether the reader has brought the refund about, and so cannot be the second person; of a trip that was called off, by that. */
function useOwn(refund: Schemas['Refund']) {
  const me = useMe();
  const may = useMay();
  const ofTrip = refund.needs_payout && refund.requested_by === null && refund.cause === 'TRIP_CANCELLED';
  const { data: booking } = useQuery({
    ...bookingQueries.one(refund.booking_id ?? ''),
    enabled: ofTrip && refund.booking_id !== null && may('ConfirmRefundPayout'),
  });
  // The page beside it may have read the booking.
  const tripId = (ofTrip && booking?.data.trip_id) || '';
  const { data: off } = useQuery({ ...tripCancellationQueries.newestOf(tripId), enabled: tripId !== '' });
  const calledOff = ofTrip && off?.requested_by === me.id;
  const own = calledOff || ((refund.needs_approval || refund.needs_payout) && refund.requested_by === me.id);
  return {
    own,
    why: calledOff ? ('ownTrip' as const) : refund.needs_payout ? ('ownPayout' as const) : ('own' as const),
  };
}

export function RefundActions({ refund }: { refund: Schemas['Refund'] }) {
  const { t, language } = useWords();
  const may = useMay();
  const whyId = useId();
  const [name, setName] = useState<Action['name'] | null>(null);
  const actions = useActions(refund).filter(({ shown, operation }) => shown && may(operation));
  const action = actions.find((each) => each.name === name);
  const { own, why } = useOwn(refund);
  const isOwn = (name: Action['name']) => own && (name === 'approve' || name === 'confirmPayout');
  const amount = moneyText(refund.amount, language, refund.currency);
  if (actions.length === 0) return null;
  return (
    <>
      {own && (
        <p className={ui.text} id={whyId}>
          {t(`refund.${why}`)}
        </p>
      )}
      <div className={ui.row}>
        {actions.map((each) => (
          <Button
            key={each.name}
            size="xs"
            variant={each.danger ? 'default' : 'filled'}
            disabled={isOwn(each.name)}
            aria-describedby={isOwn(each.name) ? whyId : undefined}
            onClick={() => {
              setName(each.name);
            }}
          >
            {t(own && each.name === 'reject' ? 'refund.withdraw' : `refund.${each.name}`)}
          </Button>
        ))}
      </div>
      {action && (
        <FormDialog
          opened
          close={() => {
            setName(null);
          }}
          title={t(`refund.${action.name}`)}
          fields={action.fields}
          submitLabel={({ payout_reference = '' }) =>
            t(action.again?.(payout_reference) ? 'reference.useAgain' : `refund.goes.${action.name}`, { amount })
          }
          danger={action.danger}
          size={action.danger ? 'md' : 'xl'}
          {...(action.name === 'confirmPayout' && { initial: { paid_out_on: dayIn(new Date()) } })}
          changes={[
            refundQueries.all,
            bookingQueries.all,
            paymentQueries.all,
            recordQueries.all,
            incidentQueries.all,
            dashboardQueries.all,
          ]}
          done={{
            text: t(`refund.done.${action.name}`, { amount }),
            to: refund.booking_id ? `/bookings/${refund.booking_id}` : `/payments/${refund.payment_transaction_id}`,
            label: refund.booking_number ?? t('field.payment'),
          }}
          submit={action.submit}
        >
          <p className={ui.text}>
            <bdi className="ltr">{refund.booking_number}</bdi> ·{' '}
            <Money amount={refund.amount} currency={refund.currency} />
          </p>
          {!action.danger && <OrderedPreview refund={refund} />}
        </FormDialog>
      )}
    </>
  );
}
