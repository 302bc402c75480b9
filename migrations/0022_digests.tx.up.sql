-- A digest of what was received and of what was bought: who changes either around the service and does not know of it leaves a
-- row that disagrees with itself. The audit recomputes it. It is no signature: who knows how it is made can make another one.

-- All that was received of an event, body and signature to the byte. Moments count in microseconds, so that no time zone matters.
CREATE FUNCTION event_digest(e webhook_events) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(json_build_array(e.id, e.channel, e.webhook_id, e.type, e.checkout_id, e.merchant_reference, e.amount, e.currency,
    e.payment_method, e.result_code, e.failure_reason, e.gateway_refund_id, (extract(epoch FROM e.occurred_at) * 1000000)::bigint,
    (extract(epoch FROM e.received_at) * 1000000)::bigint, e.body, e.signature)::text, 'UTF8'));

ALTER TABLE webhook_events ADD COLUMN digest bytea;
UPDATE webhook_events AS e SET digest = event_digest(e);
ALTER TABLE webhook_events ALTER COLUMN digest SET NOT NULL;

CREATE FUNCTION set_event_digest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.digest := event_digest(NEW);
    RETURN NEW;
END $$;
CREATE TRIGGER events_digest_set BEFORE INSERT ON webhook_events FOR EACH ROW EXECUTE FUNCTION set_event_digest();
CREATE TRIGGER events_digest_kept BEFORE UPDATE OF digest ON webhook_events FOR EACH ROW EXECUTE FUNCTION refuse_event_change();

-- When a booking was made, for which trip, departure and schedule of cancellation.
CREATE FUNCTION booking_terms_digest(b bookings) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(json_build_array(b.id, b.trip_id, (extract(epoch FROM b.created_at) * 1000000)::bigint,
    (extract(epoch FROM b.booked_departure_at) * 1000000)::bigint, b.booked_schedule)::text, 'UTF8'));

ALTER TABLE bookings ADD COLUMN terms_digest bytea;
UPDATE bookings AS b SET terms_digest = booking_terms_digest(b);
ALTER TABLE bookings ALTER COLUMN terms_digest SET NOT NULL;

-- By the order of their names it comes after bookings_departure_set.
CREATE FUNCTION set_terms_digest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.terms_digest := booking_terms_digest(NEW);
    RETURN NEW;
END $$;
CREATE TRIGGER bookings_terms_digested BEFORE INSERT ON bookings FOR EACH ROW EXECUTE FUNCTION set_terms_digest();
CREATE TRIGGER bookings_digest_kept BEFORE UPDATE OF terms_digest ON bookings FOR EACH ROW EXECUTE FUNCTION refuse_terms_change();
