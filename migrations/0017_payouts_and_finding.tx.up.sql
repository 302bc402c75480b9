-- Payouts that were marked by mistake are taken back, and bookings are found.

-- Who has marked an entry as paid out, which its rest keeps after a refund; and of a claw-back the entry whose mark was taken
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

-- The marks that were taken back, as they were. The nth payout of an entry is that after n of them.
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

-- search_fold is what a search compares: no case, no diacritics and tatweel, one alef, one yeh, one heh for teh marbuta, and
-- ASCII digits for Arabic-Indic ones.
CREATE FUNCTION search_fold(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN translate(lower(words),
    E'\u0623\u0625\u0622\u0671\u0649\u06CC\u0629\u06A9\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669'
    '\u06F0\u06F1\u06F2\u06F3\u06F4\u06F5\u06F6\u06F7\u06F8\u06F9'
    '\u0640\u064B\u064C\u064D\u064E\u064F\u0650\u0651\u0652\u0653\u0654\u0655\u0656\u0657\u0658\u0659\u065A\u065B\u065C\u065D\u065E\u065F\u0670',
    E'\u0627\u0627\u0627\u0627\u064A\u064A\u0647\u064301234567890123456789');

-- search_phone is a phone number as digits alone, without the zeros that a way to dial it begins with: "0501234567" and
-- "+966 50 123 4567" both end in "501234567".
CREATE FUNCTION search_phone(phone text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ltrim(regexp_replace(regexp_replace(search_fold(phone), '[^0-9]', '', 'g'), '^(00)?9660', '966'), '0');

-- One reference for people: RB- and seven characters of Crockford's base32, of which the last is the check character of the
-- others by Luhn's algorithm modulo 32.
CREATE FUNCTION booking_check_character(random int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    sum int := 0;
    product int;
BEGIN
    FOR place IN 0..5 LOOP -- from the right; every other one counts twice, beginning with the first
        product := ((random >> (5 * place)) & 31) * CASE place % 2 WHEN 0 THEN 2 ELSE 1 END;
        sum := sum + product / 32 + product % 32;
    END LOOP;

    RETURN (32 - sum % 32) % 32;
END $$;

CREATE FUNCTION new_booking_number() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    alphabet CONSTANT text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    random int;
    number text;
BEGIN
    LOOP
        random := ('x' || right(gen_random_uuid()::text, 8))::bit(32)::bigint & 1073741823;
        number := 'RB-';
        FOR place IN REVERSE 5..0 LOOP
            number := number || substr(alphabet, 1 + ((random >> (5 * place)) & 31), 1);
        END LOOP;
        number := number || substr(alphabet, 1 + booking_check_character(random), 1);

        EXIT WHEN NOT EXISTS (SELECT FROM bookings WHERE booking_number = number);
    END LOOP;

    RETURN number;
END $$;

ALTER TABLE bookings ADD COLUMN booking_number text;
CREATE UNIQUE INDEX bookings_number ON bookings (booking_number);
-- One statement does not see what it has given out itself.
DO $$ DECLARE booking record; BEGIN
    FOR booking IN SELECT id FROM bookings LOOP
        UPDATE bookings SET booking_number = new_booking_number() WHERE id = booking.id;
    END LOOP;
END $$;
ALTER TABLE bookings
    ALTER COLUMN booking_number SET DEFAULT new_booking_number(),
    ALTER COLUMN booking_number SET NOT NULL,
    ADD CONSTRAINT bookings_number_form CHECK (booking_number ~ '^RB-[0-9A-HJKMNP-TV-Z]{7}$');

-- What people find a booking by, one line each. Document numbers are not in it: few may read them. It is a table of its
-- own, because its index costs more than all others of bookings, which change several times.
CREATE TABLE booking_texts (
    booking_id uuid PRIMARY KEY REFERENCES bookings (id) ON DELETE CASCADE ON UPDATE CASCADE,
    words      text NOT NULL
);

CREATE FUNCTION booking_words(b bookings) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN search_fold(concat_ws(E'\n', b.booking_number, b.contact_name, b.contact_email,
        (SELECT string_agg(p ->> 'name', E'\n') FROM jsonb_array_elements(b.passengers) AS p)))
    || E'\n' || search_phone(b.contact_phone);

CREATE FUNCTION write_booking_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO booking_texts (booking_id, words) VALUES (NEW.id, booking_words(NEW))
    ON CONFLICT (booking_id) DO UPDATE SET words = EXCLUDED.words;

    RETURN NULL;
END $$;
INSERT INTO booking_texts SELECT b.id, booking_words(b) FROM bookings AS b;
CREATE INDEX booking_texts_search ON booking_texts USING gin (words gin_trgm_ops);
CREATE TRIGGER bookings_worded AFTER INSERT OR UPDATE OF booking_number, contact_name, contact_email, contact_phone, passengers ON bookings
    FOR EACH ROW EXECUTE FUNCTION write_booking_words();

-- The orders of the admins' list, and what else finds a booking.
CREATE INDEX bookings_created ON bookings (created_at, id);
CREATE INDEX bookings_amount ON bookings (amount, id);
CREATE INDEX transactions_any_reference ON payment_transactions (reference) WHERE reference IS NOT NULL;
CREATE INDEX records_payout_reference ON financial_records USING gin (search_fold(payout_reference) gin_trgm_ops)
    WHERE payout_reference IS NOT NULL;

-- Ledger entries are found by folded texts, too.
DROP INDEX record_texts_search;
ALTER TABLE record_texts
    DROP COLUMN trip_title_lower,
    DROP COLUMN details_lower,
    ADD COLUMN trip_title_folded text GENERATED ALWAYS AS (search_fold(trip_title)) STORED,
    ADD COLUMN details_folded    text GENERATED ALWAYS AS (search_fold(details)) STORED;
CREATE INDEX record_texts_search ON record_texts USING gin (trip_title_folded gin_trgm_ops, details_folded gin_trgm_ops);
CREATE INDEX transactions_booking ON payment_transactions (booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX transactions_campaign ON payment_transactions (ad_campaign_id) WHERE ad_campaign_id IS NOT NULL;
