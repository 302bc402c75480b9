import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { ApiError, stillUnknown } from '@/api/errors';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import { useMay } from '@/app/me';
import { Answer } from '@/components/Card';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useNow } from '@/hooks/useNow';
import { useWords } from '@/i18n/useWords';
import { countText, moneyText } from '@/lib/money';
import { amountIn } from '@/pages/bookings/cancel';
import { calledOffChanges } from './changes';

type Preview = Schemas['TripCancellationPreview'];

/** What is asked for; the amount is that of the preview. */
type Asked = Pick<Schemas['CancelTripRequest'], 'reason'>;

/** Calls a published trip off before its departure. The effect is shown first, and only what has been shown can be ordered. */
export function CallOff({ trip }: { trip: Schemas['Trip'] }) {
  const { t, language } = useWords();
  const may = useMay();
  const now = useNow();
  const queries = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const preview = useQuery({ ...tripCancellationQueries.preview(trip.id), enabled: opened });
  const shown = preview.data?.data;
  const title = `\u2068${trip.title}\u2069`;
  const fields: FieldsOf<Asked> = [
    {
      name: 'reason',
      label: t('calledOff.reason'),
      kind: 'area',
      required: true,
      hint: t('calledOff.reasonHint'),
    },
  ];

  const goes = () => {
    if (!shown) return t('calledOff.start');
    if (shown.bookings === 0) return t('calledOff.goNoMoney');
    return t(shown.needs_approval ? 'calledOff.ask' : 'calledOff.go', {
      bookings: t('count.bookings', { count: shown.bookings }),
      amount: moneyText(shown.refund_total, language, shown.currency),
    });
  };

  /** What was refused was shown as possible: the preview is read anew, and the sentence names the amount of now. */
  const orAnew = async <T,>(ordered: Promise<T>): Promise<T> => {
    try {
      return await ordered;
    } catch (error) {
      if (stillUnknown(error)) throw error;
      await queries.invalidateQueries({ queryKey: tripCancellationQueries.all });
      if (!(error instanceof ApiError) || error.code !== 'REFUND_AMOUNT_CHANGED') throw error;
      const amount = amountIn(error.fields['expected_refund_total']?.[0]);
      if (amount === null) throw error;
      const text = t('calledOff.changed', { amount: moneyText(amount, language, shown?.currency) });
      throw new ApiError(error.status, error.code, text, {}, error.requestId);
    }
  };

  const possible = trip.status === 'PUBLISHED' && now < Date.parse(trip.departure_at);
  // An order whose end is not known stays in sight, whatever the trip has become by it.
  if (!may('CancelTrip') || (!opened && !possible)) return null;
  return (
    <>
      <Button size="xs" variant="default" color="red" onClick={open}>
        {t('calledOff.start')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('calledOff.titleOf', { trip: title })}
        fields={fields}
        submitLabel={goes}
        leaveLabel={t('calledOff.keep')}
        danger
        size="xl"
        blocked={() => !preview.isSuccess}
        changes={calledOffChanges}
        done=""
        // Sent again it finds the trip called off, and changes nothing.
        keyed
        submit={async (values) => {
          if (!shown) throw new Error('nothing was shown');
          const { data } = await orAnew(
            answered(
              api.POST('/api/v1/provider/trips/{id}/cancel', {
                params: { path: { id: trip.id } },
                // What was shown is what is ordered, or nothing is.
                body: { ...bodyOf<Asked>(fields, values), expected_refund_total: shown.refund_total },
              }),
            ),
          );
          return new Said({
            text: t(data.needs_approval ? 'calledOff.asked' : 'calledOff.started', { trip: title }),
            to: `/trip-cancellations/${trip.id}`,
            label: t('calledOff.show'),
          });
        }}
      >
        <p className={ui.text}>{t('calledOff.hint')}</p>
        <section className={ui.stack} aria-label={t('calledOff.effect')} aria-live="polite">
          <Answer query={preview} lines={5}>
            {({ data }) => <Effect of={data} />}
          </Answer>
        </section>
      </FormDialog>
    </>
  );
}

function Effect({ of }: { of: Preview }) {
  const { t, language } = useWords();
  const money = (amount: number) => <Money amount={amount} currency={of.currency} />;
  const count = (number: number) => <span className="numbers">{countText(number, language)}</span>;
  return (
    <>
      <Facts
        of={[
          [t('calledOff.paid'), count(of.bookings)],
          [t('field.seats'), count(of.seats)],
          [t('calledOff.back'), <b key="v">{money(of.refund_total)}</b>],
          [t('preview.paidBy'), of.refund_total > 0 ? t('calledOff.share') : null],
          [t('calledOff.clawback'), of.clawback_total > 0 ? money(of.clawback_total) : null],
          [t('calledOff.unpaid'), count(of.open_checkouts)],
          [
            t('calledOff.campaigns'),
            of.campaigns > 0 ? t('calledOff.unrun', { count: of.campaigns }) : count(of.campaigns),
          ],
          [t('calledOff.campaignsBack'), of.campaigns > 0 ? money(of.campaign_refund_total) : null],
        ]}
      />
      {of.needs_approval && (
        <p className={ui.notice} role="note">
          {t('calledOff.willWait')}
        </p>
      )}
    </>
  );
}
