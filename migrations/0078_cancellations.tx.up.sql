-- Passengers of paid bookings are cancelled one by one or all together, with a refund or without (decision 0097).
SET LOCAL lock_timeout = '3s';

-- A cancellation and the figures that its refund follows from. PENDING: the refund waits for an approval, and nothing is cancelled yet.
CREATE TABLE cancellations (
    id                     uuid PRIMARY KEY,
    booking_id             uuid NOT NULL REFERENCES bookings (id),
    payment_transaction_id uuid NOT NULL REFERENCES payment_transactions (id),
    n                      smallint NOT NULL CHECK (n > 0), -- of the booking
    status                 text NOT NULL CHECK (status IN ('PENDING', 'DONE', 'VOID')),
    positions              smallint[] NOT NULL,
    refund_by              text NOT NULL CHECK (refund_by IN ('POLICY', 'FULL', 'AMOUNT', 'NONE')),
    seats                  smallint NOT NULL CHECK (seats > 0 AND seats = cardinality(positions)),
    seats_before           smallint NOT NULL CHECK (seats_before >= seats),
    percent                smallint CHECK (percent BETWEEN 0 AND 100),
    paid_amount            numeric(14, 2) NOT NULL CHECK (paid_amount >= 0),
    due_amount             numeric(14, 2) NOT NULL CHECK (due_amount >= 0),
    given_amount           numeric(14, 2) NOT NULL CHECK (given_amount >= 0),
    left_amount            numeric(14, 2) NOT NULL CHECK (left_amount >= 0),
    refund_amount          numeric(14, 2) NOT NULL CHECK (refund_amount BETWEEN 0 AND left_amount),
    refund_id              uuid UNIQUE REFERENCES refunds (id),
    cause                  text NOT NULL CHECK (cause IN ('CUSTOMER_CANCELLED', 'TRIP_CHANGED', 'TRIP_CANCELLED', 'SERVICE_NOT_PROVIDED',
        'DUPLICATE_PAYMENT', 'GOODWILL', 'OTHER')),
    reason                 text NOT NULL DEFAULT '',
    cancelled_by           uuid REFERENCES users (id), -- NULL: the service
    body_hash              bytea CHECK (octet_length(body_hash) = 32),
    created_at             timestamptz NOT NULL DEFAULT now(),
    done_at                timestamptz,
    CONSTRAINT cancellations_nth UNIQUE (booking_id, n),
    CONSTRAINT cancellations_done CHECK ((status = 'DONE') = (done_at IS NOT NULL)),
    CONSTRAINT cancellations_refund CHECK ((refund_amount > 0) = (refund_id IS NOT NULL)),
    CONSTRAINT cancellations_waits CHECK (status = 'DONE' OR refund_id IS NOT NULL),
    CONSTRAINT cancellations_percent CHECK ((percent IS NULL) = (refund_by IN ('AMOUNT', 'NONE')))
);
CREATE UNIQUE INDEX cancellations_pending ON cancellations (booking_id) WHERE status = 'PENDING';

-- The passengers that were cancelled: each of them once, for good.
CREATE TABLE cancelled_passengers (
    booking_id      uuid NOT NULL REFERENCES bookings (id),
    position        smallint NOT NULL CHECK (position BETWEEN 1 AND 20),
    cancellation_id uuid NOT NULL REFERENCES cancellations (id),
    PRIMARY KEY (booking_id, position)
);

CREATE FUNCTION refuse_cancelled_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was cancelled never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER cancelled_append_only BEFORE UPDATE OR DELETE ON cancelled_passengers
    FOR EACH ROW EXECUTE FUNCTION refuse_cancelled_change();
CREATE TRIGGER cancelled_no_truncate BEFORE TRUNCATE ON cancelled_passengers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_cancelled_change();
CREATE TRIGGER cancellations_kept BEFORE DELETE ON cancellations FOR EACH ROW EXECUTE FUNCTION refuse_cancelled_change();
CREATE TRIGGER cancellations_no_truncate BEFORE TRUNCATE ON cancellations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_cancelled_change();

-- A cancellation is of a paid payment of its booking, and ends by what was decided about its refund; its figures never change.
CREATE FUNCTION guard_cancellation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    decided text := (SELECT decision FROM refund_approvals WHERE refund_id = NEW.refund_id);
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (
            SELECT FROM payment_transactions AS t JOIN bookings AS b ON b.id = t.booking_id
            WHERE t.id = NEW.payment_transaction_id AND b.id = NEW.booking_id AND t.kind = 'PAYMENT' AND t.status = 'PAID'
                AND b.status = 'CONFIRMED')
            OR (NEW.status = 'PENDING') <> coalesce((SELECT approval_pending FROM refunds WHERE id = NEW.refund_id), false)
            OR (NEW.refund_id IS NOT NULL AND NOT EXISTS (
                SELECT FROM refunds WHERE id = NEW.refund_id AND payment_transaction_id = NEW.payment_transaction_id
                    AND amount = NEW.refund_amount)) THEN
            RAISE EXCEPTION 'the booking cannot be cancelled so' USING ERRCODE = 'restrict_violation';
        END IF;

        RETURN NEW;
    END IF;

    IF OLD.status <> 'PENDING' OR to_jsonb(NEW) - '{status,done_at}'::text[] <> to_jsonb(OLD) - '{status,done_at}'::text[]
        OR NEW.status <> (CASE decided WHEN 'APPROVED' THEN 'DONE' WHEN 'REJECTED' THEN 'VOID' WHEN 'EXPIRED' THEN 'VOID' ELSE 'PENDING' END)
    THEN
        RAISE EXCEPTION 'a cancellation ends once, by what was decided about its refund' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER cancellations_guarded BEFORE INSERT OR UPDATE ON cancellations FOR EACH ROW EXECUTE FUNCTION guard_cancellation();

-- A passenger that was booked is cancelled by a cancellation that names him and is done.
CREATE FUNCTION guard_cancelled_passenger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM cancellations AS c JOIN bookings AS b ON b.id = c.booking_id
        WHERE c.id = NEW.cancellation_id AND c.booking_id = NEW.booking_id AND c.status = 'DONE' AND NEW.position = ANY (c.positions)
            AND NEW.position <= jsonb_array_length(b.passengers)) THEN
        RAISE EXCEPTION 'the passenger cannot be cancelled so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER cancelled_guarded BEFORE INSERT ON cancelled_passengers FOR EACH ROW EXECUTE FUNCTION guard_cancelled_passenger();

-- The seats of a booking become fewer by the passengers of a cancellation, and by nothing else.
CREATE FUNCTION guard_booking_seats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seats <> jsonb_array_length(NEW.passengers) - (SELECT count(*) FROM cancelled_passengers WHERE booking_id = NEW.id) THEN
        RAISE EXCEPTION 'the seats of a booking are those of its passengers' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER bookings_seats_kept BEFORE UPDATE OF seats ON bookings
    FOR EACH ROW WHEN (OLD.seats IS DISTINCT FROM NEW.seats) EXECUTE FUNCTION guard_booking_seats();

-- Why money goes back, who bears it, and since when a refund that its gateway did not make is paid out manually.
ALTER TABLE refunds
    ADD COLUMN bearer text NOT NULL DEFAULT 'PROPORTIONAL',
    ADD COLUMN cause text NOT NULL DEFAULT 'OTHER',
    ADD COLUMN turned_manual_at timestamptz,
    ADD CONSTRAINT refunds_bearer CHECK (bearer IN ('PROPORTIONAL', 'PLATFORM', 'PROVIDER')) NOT VALID,
    ADD CONSTRAINT refunds_cause CHECK (cause IN ('CUSTOMER_CANCELLED', 'TRIP_CHANGED', 'TRIP_CANCELLED', 'SERVICE_NOT_PROVIDED',
        'DUPLICATE_PAYMENT', 'GOODWILL', 'OTHER')) NOT VALID,
    ADD CONSTRAINT refunds_turned_manual CHECK (turned_manual_at IS NULL OR channel = 'MANUAL') NOT VALID,
    DROP CONSTRAINT refunds_by_hand,
    ADD CONSTRAINT refunds_by_hand CHECK (channel = 'GATEWAY' OR gateway_refund_id IS NULL OR turned_manual_at IS NOT NULL) NOT VALID,
    DROP CONSTRAINT refunds_sent_by_gateway,
    ADD CONSTRAINT refunds_sent_by_gateway CHECK (
        channel = 'GATEWAY' OR (sends = 0 AND refused_at IS NULL) OR turned_manual_at IS NOT NULL) NOT VALID,
    DROP CONSTRAINT refunds_policy_reason_check,
    ADD CONSTRAINT refunds_policy_reason_check CHECK (policy_reason IN ('POLICY', 'POLICY_AT_BOOKING', 'RESCHEDULED', 'TRIP_CANCELLED'))
        NOT VALID;

CREATE FUNCTION refuse_refund_terms_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'who bears a refund, why it is made and since when it is manual never change' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER refunds_terms_kept BEFORE UPDATE OF bearer, cause, turned_manual_at ON refunds
    FOR EACH ROW WHEN (OLD.bearer IS DISTINCT FROM NEW.bearer OR OLD.cause IS DISTINCT FROM NEW.cause
        OR (OLD.turned_manual_at IS NOT NULL AND OLD.turned_manual_at IS DISTINCT FROM NEW.turned_manual_at))
    EXECUTE FUNCTION refuse_refund_terms_change();

-- As 0055 has it, but for a refund of a cancellation that its gateway did not make: it becomes a manual payout, once.
CREATE OR REPLACE FUNCTION guard_refund_way() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.instead_of IS NOT NULL THEN
            IF NEW.channel <> 'MANUAL' OR NOT EXISTS (
                SELECT FROM refunds AS o WHERE o.id = NEW.instead_of AND o.status = 'FAILED' AND o.channel = 'GATEWAY'
                    AND (o.payment_transaction_id, o.amount, o.currency) = (NEW.payment_transaction_id, NEW.amount, NEW.currency)
                    AND o.requested_by IS NOT DISTINCT FROM NEW.requested_by
                    AND (o.approval_until IS NULL OR EXISTS (
                        SELECT FROM refund_approvals WHERE refund_id = o.id AND decision = 'APPROVED'))) THEN
                RAISE EXCEPTION 'nothing is paid out instead of this refund' USING ERRCODE = 'restrict_violation';
            END IF;
        ELSIF (NEW.channel = 'MANUAL') <> EXISTS (
            SELECT FROM payment_transactions WHERE id = NEW.payment_transaction_id
                AND (coalesce(paid_by, payment_method) = 'bill_payment' OR coalesce(captured_currency, 'SAR') <> 'SAR')) THEN
            RAISE EXCEPTION 'a refund of this payment does not go by %', NEW.channel USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF NEW.channel <> OLD.channel THEN
        IF NOT (NEW.channel = 'MANUAL' AND NEW.status = 'PENDING' AND NEW.turned_manual_at IS NOT NULL
            AND EXISTS (SELECT FROM cancellations WHERE refund_id = NEW.id AND status = 'DONE')) THEN
            RAISE EXCEPTION 'the way of a refund never changes' USING ERRCODE = 'restrict_violation';
        END IF;
    ELSIF OLD.instead_of IS DISTINCT FROM NEW.instead_of THEN
        RAISE EXCEPTION 'the way of a refund never changes' USING ERRCODE = 'restrict_violation';
    ELSIF NEW.channel = 'MANUAL' AND NEW.status <> 'PENDING' AND NOT EXISTS (
        SELECT FROM refund_payouts WHERE refund_id = NEW.id
            AND decision = CASE NEW.status WHEN 'SUCCEEDED' THEN 'PAID_OUT' ELSE 'REJECTED' END)
        AND NOT (NEW.status = 'FAILED' AND EXISTS (
            SELECT FROM refund_approvals WHERE refund_id = NEW.id AND decision <> 'APPROVED')) THEN
        RAISE EXCEPTION 'nobody has decided that the refund is %', NEW.status USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;

-- As 0051 has it; what passengers were cancelled for is owed.
CREATE OR REPLACE FUNCTION guard_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM refunds WHERE id = NEW.refund_id
            AND (channel = 'MANUAL' AND status = 'PENDING' OR returned_at IS NOT NULL AND NEW.decision = 'PAID_OUT')
            AND (NEW.decision = 'REJECTED' OR (
                requested_by IS DISTINCT FROM NEW.decided_by
                AND second_person_refused(requested_by, NEW.decided_by, booking_id) IS NULL
                AND (approval_until IS NOT NULL OR returned_at IS NOT NULL OR ad_campaign_id IS NOT NULL OR NOT is_gone(requested_by)
                    OR EXISTS (SELECT FROM cancellations AS c WHERE c.refund_id = NEW.refund_id AND c.status = 'DONE'))))
            AND (approval_until IS NULL OR EXISTS (
                SELECT FROM refund_approvals WHERE refund_id = NEW.refund_id AND decision = 'APPROVED'))) THEN
        RAISE EXCEPTION 'the payout cannot be decided so' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;

-- A ledger entry that makes one side bear a refund alone.
ALTER TABLE financial_records
    DROP CONSTRAINT financial_records_kind_check,
    ADD CONSTRAINT financial_records_kind_check CHECK (kind IN ('SALE', 'ADVERTISING', 'CLAWBACK', 'ADJUSTMENT')) NOT VALID,
    DROP CONSTRAINT records_sign,
    ADD CONSTRAINT records_sign CHECK (CASE kind
        WHEN 'CLAWBACK' THEN gross_amount < 0 AND platform_commission_amount = 0 AND vat_amount = 0 AND refund_id IS NOT NULL
        WHEN 'ADJUSTMENT' THEN gross_amount <> 0 AND platform_commission_amount = 0 AND vat_amount = 0 AND refund_id IS NOT NULL
        ELSE gross_amount > 0 AND platform_commission_amount >= 0 AND net_amount >= 0 AND vat_amount BETWEEN 0 AND gross_amount END) NOT VALID;
