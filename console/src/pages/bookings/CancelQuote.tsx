import { Button, Modal } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { useMay } from '@/app/me';
import ui from '@/components/ui.module.css';
import { FieldInput } from '@/forms/FieldInput';
import { useNow } from '@/hooks/useNow';
import { useWords } from '@/i18n/useWords';
import { narrow } from '@/lib/screen';
import { CancelEffect } from './CancelEffect';

type Booking = Schemas['Booking'];

/** What a cancellation would give back, for staff who answer the customer and cannot cancel. Nothing is changed by it. */
export function CancelQuote({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const may = useMay();
  const now = useNow();
  const onTelephone = useMediaQuery(narrow);
  const [opened, { open, close }] = useDisclosure();
  const ends = booking.status !== 'CONFIRMED' || now >= Date.parse(booking.departure_at);
  // Who may cancel sees the same before cancelling.
  if (may('CancelPaidBooking') || !may('GetCancellationQuote') || (!opened && ends)) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('cancelQuote.start')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('cancelQuote.title')}
        size="lg"
        fullScreen={onTelephone}
        closeButtonProps={{ 'aria-label': t('action.close') }}
      >
        <Quote booking={booking} />
      </Modal>
    </>
  );
}

function Quote({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const travel = booking.passengers.flatMap(({ id, name, status }) =>
    id === undefined || status === 'CANCELLED' ? [] : [{ value: id, label: name }],
  );
  // One is meant; of several people choose.
  const [ids, setIds] = useState(travel.length === 1 ? (travel[0]?.value ?? '') : '');
  return (
    <div className={ui.stack}>
      <FieldInput
        field={{ name: 'passenger_ids', label: t('cancelQuote.who'), kind: 'checks', choices: travel }}
        value={ids}
        error={undefined}
        disabled={false}
        first
        change={setIds}
      />
      <CancelEffect booking={booking} values={{ passenger_ids: ids, refund: 'POLICY' }} named={undefined} />
      <section aria-labelledby="how-to-cancel">
        <h3 id="how-to-cancel">{t('cancelQuote.how')}</h3>
        <ul className={ui.people}>
          <li>{t('cancelQuote.ask')}</li>
          <li>{t('cancelQuote.stays')}</li>
          <li>{t('cancelQuote.until')}</li>
          <li>{t('cancelQuote.staff')}</li>
        </ul>
      </section>
    </div>
  );
}
