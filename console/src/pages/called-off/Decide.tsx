import { Button } from '@mantine/core';
import { useId, useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { useMay, useMe } from '@/app/me';
import ui from '@/components/ui.module.css';
import { bodyOf, type Field, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import { moneyText } from '@/lib/money';
import { calledOffChanges } from './changes';

type Cancellation = Schemas['TripCancellation'];

/** The decision of a second person about a trip that is to be called off: the buttons say what they do. */
export function Decide({ of }: { of: Cancellation }) {
  const { t, language } = useWords();
  const may = useMay();
  const me = useMe();
  const whyId = useId();
  const orDecided = useOrDecided(of.trip_id);
  const [name, setName] = useState<'approve' | 'reject' | null>(null);
  const own = of.requested_by === me.id;
  const figures = {
    bookings: t('count.bookings', { count: of.bookings }),
    amount: moneyText(of.refund_total, language, of.currency),
  };
  const note: Field<'note'> = { name: 'note', label: t('field.note'), kind: 'area' };
  const optional: FieldsOf<Schemas['ApproveRefundRequest']> = [note];
  const required: FieldsOf<Schemas['RejectRefundRequest']> = [{ ...note, required: true }];
  const params = { path: { id: of.trip_id } };
  const rejects = t(own ? 'calledOff.withdraw' : 'calledOff.reject');
  const shared = {
    opened: true,
    close: () => {
      setName(null);
    },
    changes: calledOffChanges,
    leaveLabel: t('action.close'),
  };
  if (!may('ApproveTripCancellation')) return null;
  return (
    <>
      {own && (
        <p className={ui.text} id={whyId}>
          {t('calledOff.own')}
        </p>
      )}
      <div className={ui.row}>
        <Button
          size="xs"
          classNames={{ root: ui.button ?? '', label: ui.buttonLabel ?? '' }}
          disabled={own}
          aria-describedby={own ? whyId : undefined}
          onClick={() => {
            setName('approve');
          }}
        >
          {t('calledOff.approveGoes', figures)}
        </Button>
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            setName('reject');
          }}
        >
          {rejects}
        </Button>
      </div>
      {name === 'approve' && (
        <FormDialog
          {...shared}
          title={t('calledOff.approve')}
          fields={optional}
          submitLabel={t('calledOff.approveGoes', figures)}
          done={t('calledOff.approved', figures)}
          submit={(values) =>
            orDecided(
              answered(
                api.POST('/api/v1/provider/trips/{id}/cancel/approve', {
                  params,
                  body: bodyOf<Schemas['ApproveRefundRequest']>(optional, values, true),
                }),
              ),
            )
          }
        >
          <About of={of}>{t('calledOff.approveHint')}</About>
        </FormDialog>
      )}
      {name === 'reject' && (
        <FormDialog
          {...shared}
          danger
          title={rejects}
          fields={required}
          submitLabel={rejects}
          done={t(own ? 'calledOff.withdrawn' : 'calledOff.rejected')}
          submit={(values) =>
            orDecided(
              answered(
                api.POST('/api/v1/provider/trips/{id}/cancel/reject', {
                  params,
                  body: bodyOf<Schemas['RejectRefundRequest']>(required, values),
                }),
              ),
            )
          }
        >
          <About of={of}>{t('calledOff.rejectHint')}</About>
        </FormDialog>
      )}
    </>
  );
}

/** Why it was ordered, by whom, and what the decision does. */
function About({ of, children }: { of: Cancellation; children: string }) {
  return (
    <p className={ui.text}>
      <bdi>{of.requested_by_name}</bdi>: <bdi>{of.reason}</bdi>
      <br />
      {children}
    </p>
  );
}

/** Another person may have decided meanwhile, or the time is over: the refusal says who, and what. */
function useOrDecided(tripId: string) {
  const { t, language, label } = useWords();
  return async <T,>(sent: Promise<T>): Promise<T> => {
    try {
      return await sent;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'INVALID_STATE') throw error;
      const read = await answered(
        api.GET('/api/v1/provider/trips/{id}/cancellation', { params: { path: { id: tripId } } }),
      ).catch(() => null);
      const now = read?.data;
      if (!now?.decided_at) throw error;
      const decided = {
        // Once approved it is being cancelled, or is.
        decision: ['CANCELLING', 'CANCELLED'].includes(now.status)
          ? t('state.cancellation.APPROVED')
          : label(now, 'status'),
        name: `\u2068${now.decided_by_name ?? '–'}\u2069`,
        when: momentText(now.decided_at, language),
      };
      throw new ApiError(error.status, error.code, t('calledOff.alreadyDecided', decided), {}, error.requestId);
    }
  };
}
