import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { answered, api, type Schemas } from '@/api/client';
import { useMay, useMe } from '@/app/me';
import { Facts } from '@/components/Facts';
import ui from '@/components/ui.module.css';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { cancellationChanges } from '@/pages/cancellations/changes';

/** Gives up a booking that was not paid, for the customer. */
export function CancelUnpaid({ booking }: { booking: Schemas['Booking'] }) {
  const { t } = useWords();
  const may = useMay();
  const me = useMe();
  const [opened, { open, close }] = useDisclosure();
  // Everyone cancels bookings of their own; of others' the API lets all staff but finance do it.
  const allowed = may('CancelBooking') && (me.role !== 'FINANCE_ADMIN' || me.id === booking.user_id);
  if (!allowed || (!opened && booking.status !== 'PENDING_PAYMENT')) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('unpaid.cancel')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('unpaid.title', { number: booking.booking_number })}
        fields={[]}
        submitLabel={t('unpaid.go', { seats: t('count.seats', { count: booking.seats }) })}
        leaveLabel={t('cancel.keep')}
        danger
        changes={cancellationChanges}
        done={t('unpaid.done', { number: booking.booking_number })}
        submit={() => answered(api.POST('/api/v1/bookings/{id}/cancel', { params: { path: { id: booking.id } } }))}
      >
        <p className={ui.text}>{t('unpaid.hint')}</p>
        <Facts
          of={[
            [t('field.name'), <bdi key="v">{booking.contact.name}</bdi>],
            [t('cancel.seats'), t('count.seats', { count: booking.seats })],
          ]}
        />
      </FormDialog>
    </>
  );
}
