-- Payouts that were marked by mistake are taken back, and bookings are found.

-- Who has marked a line as paid out, which its rest keeps after a refund; and of a claw-back the line whose mark was taken
-- back with it.
ALTER TABLE financial_records
    ADD COLUMN transferred_by uuid REFERENCES users (id),
    ADD COLUMN netted_against uuid REFERENCES financial_records (id),
    ADD CONSTRAINT records_netted CHECK (netted_against IS NULL OR (kind = 'CLAWBACK' AND balance_status = 'TRANSFERRED'));

WITH RECURSIVE marked AS (
    SELECT r.id, (SELECT a.actor_id FROM audit_log AS a
        WHERE a.entity = 'financial_record' AND a.entity_id = r.id AND a.action = 'FINANCIAL_RECORD_TRANSFERRED'
        ORDER BY a.created_at DESC LIMIT 1) AS actor
    FROM financial_records AS r LEFT JOIN financial_records AS o ON o.id = r.split_from
    WHERE r.transferred_at IS NOT NULL AND (o.id IS NULL OR o.transferred_at IS NULL)
    UNION ALL
    SELECT r.id, m.actor FROM marked AS m JOIN financial_records AS r ON r.split_from = m.id AND r.transferred_at IS NOT NULL
)
UPDATE financial_records AS r SET transferred_by = m.actor
FROM marked AS m JOIN users AS u ON u.id = m.actor WHERE m.id = r.id;

-- The marks that were taken back, as they were. The nth payout of a line is that after n of them.
CREATE TABLE payout_reversals (
    record_id        uuid NOT NULL REFERENCES financial_records (id),
    n                int NOT NULL CHECK (n >= 1),
    transferred_at   timestamptz NOT NULL,
    transferred_by   uuid REFERENCES users (id),
    payout_reference text,
    payout_date      date,
    reason           text NOT NULL CHECK (reason <> ''),
    reverted_by      uuid NOT NULL REFERENCES users (id),
    created_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (record_id, n),
    CONSTRAINT payout_reversals_two_people CHECK (transferred_by IS DISTINCT FROM reverted_by)
);

CREATE FUNCTION refuse_reversal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'payout_reversals is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER reversals_append_only BEFORE UPDATE OR DELETE ON payout_reversals
    FOR EACH ROW EXECUTE FUNCTION refuse_reversal_change();
CREATE TRIGGER reversals_no_truncate BEFORE TRUNCATE ON payout_reversals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_reversal_change();

-- A mark goes with its reversal, in the same transaction, or not at all.
CREATE FUNCTION guard_transfer_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM payout_reversals WHERE record_id = OLD.id AND transferred_at = OLD.transferred_at AND created_at = now()) THEN
        RAISE EXCEPTION 'a payout is taken back by a reversal only' USING ERRCODE = 'restrict_violation';
    END IF;

    RETURN NEW;
END $$;
CREATE TRIGGER records_mark_kept BEFORE UPDATE OF balance_status ON financial_records
    FOR EACH ROW WHEN (OLD.balance_status = 'TRANSFERRED' AND NEW.balance_status = 'IN_CURRENT_BALANCE')
    EXECUTE FUNCTION guard_transfer_mark();

-- "ABC 1234" and "abc1234" are one plate number. Where a company has one twice today, the later buses get the end of their
-- id behind it, so that people see it and put it right.
CREATE FUNCTION plate_key(plate text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(regexp_replace(plate, '[\s\u00a0\u2000-\u200f\u2028\u2029\u202f\u205f\u3000\ufeff]', '', 'g'));
UPDATE buses AS b SET plate_number = b.plate_number || ' (' || right(b.id::text, 6) || ')', updated_at = now()
FROM (
    SELECT id, row_number() OVER (PARTITION BY provider_id, plate_key(plate_number) ORDER BY created_at, id) AS place
    FROM buses WHERE deleted_at IS NULL
) AS double
WHERE double.id = b.id AND double.place > 1;
DROP INDEX buses_plate_live;
CREATE UNIQUE INDEX buses_plate_live ON buses (provider_id, plate_key(plate_number)) WHERE deleted_at IS NULL;
