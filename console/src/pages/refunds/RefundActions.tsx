import { Button } from '@mantine/core';
import { useId, useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { useMay, useMe } from '@/app/me';
import type { Operation } from '@/api/access';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type Field, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';

interface Action {
  name: 'approve' | 'reject' | 'confirmPayout' | 'rejectPayout';
  operation: Operation;
  shown: boolean;
  danger: boolean;
  fields: Field[];
  submit: (values: Values) => Promise<unknown>;
}

/** What people can decide about a refund that waits for them. */
function useActions(refund: Schemas['Refund']): Action[] {
  const { t } = useWords();
  const path = { id: refund.id };
  const note: Field = { name: 'note', label: t('field.note'), kind: 'area' };
  const payout: Field[] = [
    { name: 'payout_reference', label: t('field.payoutReference'), required: true, hint: t('refund.referenceHint') },
    { name: 'paid_out_on', label: t('field.payoutDate'), kind: 'day' },
    note,
  ];
  const whyNot: Field[] = [{ ...note, required: true }];
  const why: Field[] = [{ name: 'reason', label: t('field.reason'), kind: 'area', required: true }];
  return [
    {
      name: 'approve',
      operation: 'ApproveRefund',
      shown: refund.needs_approval,
      danger: false,
      fields: [note],
      submit: (values) =>
        answered(
          api.POST('/api/v1/admin/refunds/{id}/approve', {
            params: { path },
            body: bodyOf<Schemas['ApproveRefundRequest']>([note], values, true),
          }),
        ),
    },
    {
      name: 'reject',
      operation: 'RejectRefund',
      shown: refund.needs_approval,
      danger: true,
      fields: whyNot,
      submit: (values) =>
        answered(
          api.POST('/api/v1/admin/refunds/{id}/reject', {
            params: { path },
            body: bodyOf<Schemas['RejectRefundRequest']>(whyNot, values),
          }),
        ),
    },
    {
      name: 'confirmPayout',
      operation: 'ConfirmRefundPayout',
      shown: refund.needs_payout,
      danger: false,
      fields: payout,
      submit: (values) =>
        answered(
          api.POST('/api/v1/admin/refunds/{id}/confirm-payout', {
            params: { path },
            body: bodyOf<Schemas['ConfirmPayoutRequest']>(payout, values, true),
          }),
        ),
    },
    {
      name: 'rejectPayout',
      operation: 'RejectRefundPayout',
      shown: refund.needs_payout,
      danger: true,
      fields: why,
      submit: (values) =>
        answered(
          api.POST('/api/v1/admin/refunds/{id}/reject-payout', {
            params: { path },
            body: bodyOf<Schemas['RejectPayoutRequest']>(why, values),
          }),
        ),
    },
  ];
}

export function RefundActions({ refund }: { refund: Schemas['Refund'] }) {
  const { t } = useWords();
  const may = useMay();
  const me = useMe();
  const whyId = useId();
  const [name, setName] = useState<Action['name'] | null>(null);
  const actions = useActions(refund).filter(({ shown, operation }) => shown && may(operation));
  const action = actions.find((each) => each.name === name);
  const own = refund.needs_approval && refund.requested_by === me.id;
  if (actions.length === 0) return null;
  return (
    <>
      {own && (
        <p className={ui.text} id={whyId}>
          {t('refund.own')}
        </p>
      )}
      <div className={ui.row}>
        {actions.map((each) => (
          <Button
            key={each.name}
            size="xs"
            variant={each.danger ? 'default' : 'filled'}
            disabled={own && each.name === 'approve'}
            aria-describedby={own && each.name === 'approve' ? whyId : undefined}
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
          submitLabel={t(`refund.${action.name}`)}
          danger={action.danger}
          changes={['refunds', 'bookings', 'payments', 'records', 'dashboard']}
          submit={action.submit}
        >
          <p className={ui.text}>
            <bdi className="ltr">{refund.booking_number}</bdi> ·{' '}
            <Money amount={refund.amount} currency={refund.currency} />
          </p>
        </FormDialog>
      )}
    </>
  );
}
