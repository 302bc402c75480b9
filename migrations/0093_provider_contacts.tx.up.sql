-- The persons of a company who are told about its bookings and money, and which messages each of them gets.
SET LOCAL lock_timeout = '3s';

CREATE TABLE provider_contacts (
    provider_id uuid NOT NULL REFERENCES providers (id),
    position    smallint NOT NULL CHECK (position BETWEEN 1 AND 10),
    name        text NOT NULL CHECK (name <> ''),
    email       text NOT NULL CHECK (email <> ''),
    phone       text NOT NULL DEFAULT '',
    messages    text[] NOT NULL CONSTRAINT provider_contacts_messages
        CHECK (messages <@ '{BOOKED,CANCELLED,REFUNDED,CLAWBACK,PAYOUT,DISPUTE}'::text[]),
    PRIMARY KEY (provider_id, position)
);
CREATE UNIQUE INDEX provider_contacts_email ON provider_contacts (provider_id, lower(email));
