import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { answered, api, type Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { paymentQueries } from '@/api/queries/payments';
import { useMay } from '@/app/me';
import { Facts } from '@/components/Facts';
import ui from '@/components/ui.module.css';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';

/** Sends the customer the link at which an unpaid booking is paid; the API says when there is nothing to pay. */
export function SendCheckout({ booking }: { booking: Schemas['Booking'] }) {
  const { t } = useWords();
  const { word } = useChoices();
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  if (!may('SendCheckoutLink') || booking.status !== 'PENDING_PAYMENT') return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('checkout.send')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('checkout.sendOf', { number: booking.booking_number })}
        fields={[]}
        submitLabel={t('checkout.go')}
        changes={[bookingQueries.all, paymentQueries.all]}
        done=""
        keyed
        submit={async (_, key) => {
          const { data } = await answered(
            api.POST('/api/v1/admin/bookings/{id}/send-checkout', {
              params: { path: { id: booking.id }, header: { 'Idempotency-Key': key } },
            }),
          );
          return new Said(
            t('checkout.sent', {
              to: data.messages.map(({ channel, to }) => `${word(channel)} \u2066${to}\u2069`).join(' · '),
              left: data.sendings_left,
            }),
          );
        }}
      >
        <p className={ui.text}>{t('checkout.hint')}</p>
        <Facts
          of={[
            [t('field.name'), <bdi key="v">{booking.contact.name}</bdi>],
            [
              t('field.phone'),
              <bdi key="v" className="ltr">
                {booking.contact.phone}
              </bdi>,
            ],
            [
              t('field.email'),
              <bdi key="v" className="ltr">
                {booking.contact.email}
              </bdi>,
            ],
          ]}
        />
      </FormDialog>
    </>
  );
}
