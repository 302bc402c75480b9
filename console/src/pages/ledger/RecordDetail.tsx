import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import { Link } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { dashboardQueries } from '@/api/queries/dashboard';
import { recordQueries } from '@/api/queries/records';
import { useMay, useMe } from '@/app/me';
import { Badge } from '@/components/Badge';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { Day, When } from '@/components/When';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { rateText } from '@/lib/money';

type FinancialRecord = Schemas['FinancialRecord'];

interface Props {
  record: FinancialRecord;
  opened: boolean;
  close: () => void;
  /** Provider roles look, and have no pages of payments and bookings. */
  own?: boolean;
}

export function RecordDetail({ record, opened, close, own = false }: Props) {
  const { t, language } = useWords();
  const { word } = useChoices();
  const money = (amount: number) => <Money key="v" amount={amount} currency={record.currency} />;
  return (
    <Detail
      opened={opened}
      close={close}
      title={
        <span className={ui.row}>
          <bdi className="ltr">{record.transaction_number}</bdi>
          <Badge state={record.balance_status}>
            {language === 'ar' ? record.status_label_ar : record.status_label_en}
          </Badge>
        </span>
      }
    >
      {!own && <Revert record={record} />}
      {record.kind === 'CLAWBACK' && <p className={ui.text}>{t('ledger.clawback')}</p>}
      <Facts
        of={[
          [t('field.kind'), word(record.kind)],
          [t('field.provider'), <bdi key="v">{record.provider_name}</bdi>],
          [t('field.details'), <bdi key="v">{record.details}</bdi>],
          [t('card.gross_amount'), money(record.gross_amount)],
          [t('card.vat_amount'), record.vat_amount !== undefined && money(record.vat_amount)],
          [t('card.platform_commission_amount'), money(record.platform_commission_amount)],
          [t('field.commissionRate'), rateText(record.commission_rate, language)],
          [t('card.net_amount'), money(record.net_amount)],
          [t('card.refunded_amount'), money(record.refunded_amount)],
          [t('field.day'), <Day key="v" day={record.record_date} />],
          [
            t('field.bookingNumber'),
            record.booking_id &&
              (own ? (
                <CopyId key="v" id={record.booking_number ?? record.booking_id} />
              ) : (
                <Link key="v" className="ltr" to={`/bookings/${record.booking_id}`}>
                  {record.booking_number ?? record.booking_id}
                </Link>
              )),
          ],
          [t('field.captured'), record.captured_at && <When key="v" at={record.captured_at} />],
          [
            t('field.payoutReference'),
            record.payout_reference && <CopyId key="v" id={record.payout_reference} whole />,
          ],
          [t('field.payoutDate'), record.payout_date && <Day key="v" day={record.payout_date} />],
          [t('ledger.transferredAt'), record.transferred_at && <When key="v" at={record.transferred_at} />],
          [t('ledger.transferredBy'), record.transferred_by_name && <bdi key="v">{record.transferred_by_name}</bdi>],
          [t('ledger.revertedAt'), record.payout_reverted_at && <When key="v" at={record.payout_reverted_at} />],
          [t('ledger.splitFrom'), record.split_from && <CopyId key="v" id={record.split_from} />],
          [t('ledger.nettedAgainst'), record.netted_against && <CopyId key="v" id={record.netted_against} />],
          [t('field.id'), <CopyId key="v" id={record.id} whole />],
        ]}
      />
    </Detail>
  );
}

function Revert({ record }: { record: FinancialRecord }) {
  const { t } = useWords();
  const may = useMay();
  const me = useMe();
  const whyId = useId();
  const [opened, { open, close }] = useDisclosure();
  if (record.balance_status !== 'TRANSFERRED' || !may('RevertRecordTransfer')) return null;
  const own = record.transferred_by === me.id;
  const fields: FieldsOf<Schemas['RevertTransferRequest']> = [
    { name: 'reason', label: t('field.reason'), kind: 'area', required: true },
  ];
  return (
    <>
      {own && (
        <p className={ui.text} id={whyId}>
          {t('ledger.ownMark')}
        </p>
      )}
      <div>
        <Button size="xs" variant="default" disabled={own} aria-describedby={own ? whyId : undefined} onClick={open}>
          {t('ledger.revert')}
        </Button>
      </div>
      <FormDialog
        opened={opened}
        close={close}
        title={t('ledger.revert')}
        fields={fields}
        submitLabel={t('ledger.revert')}
        danger
        changes={[recordQueries.all, dashboardQueries.all]}
        done={t('done.reverted', { number: `\u2068${record.transaction_number}\u2069` })}
        keyed
        submit={(values, key) =>
          answered(
            api.POST('/api/v1/admin/financial-records/{id}/revert-transfer', {
              params: { path: { id: record.id }, header: { 'Idempotency-Key': key } },
              body: bodyOf<Schemas['RevertTransferRequest']>(fields, values),
            }),
          )
        }
      >
        <p className={ui.text}>{t('ledger.revertHint')}</p>
      </FormDialog>
    </>
  );
}
