import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { downloadFile } from '@/api/download';
import { bookingQueries } from '@/api/queries/bookings';
import { paymentQueries } from '@/api/queries/payments';
import { useMay } from '@/app/me';
import { Card } from '@/components/Card';
import { useErrorText } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { bodyOf, type Field, type FieldsOf, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useChoices } from '@/hooks/useChoices';
import { useNow } from '@/hooks/useNow';
import { useWords } from '@/i18n/useWords';
import { Notes } from '@/shared/Notes';
import { byField, correctionOf, passengerField } from './correction';

type Booking = Schemas['Booking'];

/** What staff put right for a customer on the telephone. */
export function Desk({ booking }: { booking: Booking }) {
  return (
    <div className={ui.row}>
      <Correct booking={booking} />
      <Resend booking={booking} />
      <Ticket booking={booking} />
    </div>
  );
}

/** The ticket as the customer has it, to look at or to print. */
function Ticket({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const may = useMay();
  const text = useErrorText();
  const read = useMutation({
    mutationFn: () =>
      downloadFile(
        `/api/v1/bookings/${booking.id}/ticket`,
        `${booking.booking_number}.pdf`,
        () => undefined,
        'application/pdf',
      ),
    onError: (error) => {
      notifications.show({ message: text(error), color: 'red', autoClose: false });
    },
  });
  if (booking.status !== 'CONFIRMED' || !may('GetTicket')) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={read.isPending}
      onClick={() => {
        read.mutate();
      }}
    >
      {t('desk.ticket')}
    </Button>
  );
}

/** Corrects the contact and the names of passengers who travel, until the departure. */
function Correct({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const may = useMay();
  const now = useNow();
  const [opened, { open, close }] = useDisclosure();
  const { contact } = booking;
  const travel = booking.passengers.flatMap(({ id, name, status }, index) =>
    id === undefined || status === 'CANCELLED' ? [] : [{ id, name, number: index + 1 }],
  );
  const fields: Field[] = [
    { name: 'contact.name', label: t('desk.contactName') },
    { name: 'contact.phone', label: t('field.phone'), kind: 'phone' },
    { name: 'contact.email', label: t('field.email'), kind: 'email' },
    ...travel.map(({ id, number }) => ({ name: passengerField(id), label: t('desk.passengerName', { number }) })),
  ];
  const initial: Values = {
    'contact.name': contact.name,
    'contact.phone': contact.phone,
    'contact.email': contact.email,
    ...Object.fromEntries(travel.map(({ id, name }) => [passengerField(id), name])),
  };
  if (!may('CorrectBooking') || (!opened && now >= Date.parse(booking.departure_at))) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('desk.correct')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('desk.correctOf', { number: booking.booking_number })}
        fields={fields}
        initial={initial}
        submitLabel={t('action.save')}
        blocked={(values) => fields.every(({ name }) => values[name] === initial[name])}
        changes={[bookingQueries.all, paymentQueries.all]}
        done={t('desk.corrected')}
        submit={async (values, _, changed) => {
          const body = correctionOf(changed, values);
          try {
            return await answered(
              api.PATCH('/api/v1/admin/bookings/{id}', { params: { path: { id: booking.id } }, body }),
            );
          } catch (error) {
            throw byField(error, body);
          }
        }}
      >
        <p className={ui.text}>{t('desk.correctHint')}</p>
      </FormDialog>
    </>
  );
}

/** Sends the contact a message about the booking once more. */
function Resend({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const { word } = useChoices();
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  const kinds: Schemas['ResendKind'][] = [
    ...(booking.status === 'CONFIRMED' ? (['CONFIRMATION', 'TICKET'] as const) : []),
    ...(booking.refunds?.some(({ status }) => status === 'SUCCEEDED') ? (['REFUND'] as const) : []),
  ];
  const [first] = kinds;
  const fields: FieldsOf<Schemas['ResendRequest']> = [
    {
      name: 'kind',
      label: t('desk.message'),
      kind: 'radios',
      required: true,
      choices: kinds.map((value) => ({ value, label: t(`desk.kind.${value}`), hint: t(`desk.kindHint.${value}`) })),
    },
  ];
  if (!may('ResendBookingMessage') || first === undefined) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('desk.resend')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('desk.resendOf', { number: booking.booking_number })}
        fields={fields}
        initial={{ kind: first }}
        submitLabel={t('checkout.go')}
        changes={[bookingQueries.all, paymentQueries.all]}
        done=""
        keyed
        submit={async (values, key) => {
          const { data } = await answered(
            api.POST('/api/v1/admin/bookings/{id}/resend', {
              params: { path: { id: booking.id }, header: { 'Idempotency-Key': key } },
              body: bodyOf<Schemas['ResendRequest']>(fields, values),
            }),
          );
          return new Said(
            t('desk.sent', {
              to: data.messages.map(({ channel, to }) => `${word(channel)} \u2066${to}\u2069`).join(' · '),
              left: data.sendings_left,
            }),
          );
        }}
      >
        <p className={ui.text}>
          {t('desk.resendHint', {
            email: `\u2066${booking.contact.email}\u2069`,
            phone: `\u2066${booking.contact.phone}\u2069`,
          })}
        </p>
      </FormDialog>
    </>
  );
}

/** What staff know about the booking; only they read it. */
export function BookingNotes({ id }: { id: string }) {
  const { t } = useWords();
  const may = useMay();
  const asked = bookingQueries.notes(id);
  const notes = useQuery({ ...asked, enabled: may('ListBookingNotes') });
  if (!may('ListBookingNotes')) return null;
  return (
    <Card>
      <Notes
        title={t('desk.notes')}
        notes={notes}
        queryKey={asked.queryKey}
        add={
          may('AddBookingNote')
            ? (note, key) =>
                answered(
                  api.POST('/api/v1/admin/bookings/{id}/notes', {
                    params: { path: { id }, header: { 'Idempotency-Key': key } },
                    body: { note },
                  }),
                )
            : null
        }
      />
    </Card>
  );
}
