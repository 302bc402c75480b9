-- How often staff have sent a customer the link of a booking's checkout, and when last (decision 0070). A row for each booking: the
-- statement that counts a sending is the one that allows it.
CREATE TABLE checkout_sendings (
    booking_id uuid PRIMARY KEY REFERENCES bookings (id),
    sent       smallint NOT NULL CONSTRAINT checkout_sendings_most CHECK (sent BETWEEN 1 AND 5),
    sent_at    timestamptz NOT NULL
);
