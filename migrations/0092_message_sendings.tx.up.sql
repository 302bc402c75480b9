-- How often staff have had a message about a booking sent again, and when last. A row for each booking and message: the statement that
-- counts a sending is the one that allows it.
SET LOCAL lock_timeout = '3s';

CREATE TABLE message_sendings (
    booking_id uuid NOT NULL REFERENCES bookings (id),
    kind       text NOT NULL CONSTRAINT message_sendings_kind CHECK (kind IN ('CONFIRMATION', 'REFUND', 'TICKET')),
    sent       smallint NOT NULL CONSTRAINT message_sendings_most CHECK (sent BETWEEN 1 AND 5),
    sent_at    timestamptz NOT NULL,
    PRIMARY KEY (booking_id, kind)
);
