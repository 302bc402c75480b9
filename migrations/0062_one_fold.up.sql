-- One fold of names for all searches, which knows more of how people write: hamza on its own and on its carriers, presentation forms,
-- names in one word or in two, invisible characters, dashes. It takes a third of the time of the one before. Not in one transaction:
-- what the new function folds is written beside what the old one has folded, in small transactions, and the two are exchanged in one
-- short transaction that gives up after 3 s. All of it can be run again after a failure, also after the last step.
--
-- Replicas of the version before go on searching: their statements name functions and columns, and get the new ones from the
-- exchange on. Until then both folds find everything.
DROP INDEX CONCURRENTLY IF EXISTS records_payout_reference_before;
--bun:split
DROP INDEX CONCURRENTLY IF EXISTS records_payout_reference_new;
--bun:split
DROP INDEX CONCURRENTLY IF EXISTS record_texts_search_new;
--bun:split
-- The same steps as models.Fold; a test compares the two. Most texts have none of the characters that a step is about: it looks for
-- them before it takes its time.
CREATE OR REPLACE FUNCTION search_fold_new(words text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    t text;
BEGIN
    IF octet_length(words) = char_length(words) THEN -- ASCII
        t := lower(words);

        IF t ~ '[\x01-\x09\x0b-\x1f\x7f`]' THEN
            t := regexp_replace(translate(t, E'`\t\x0b\x0c\r', '''    '), '[\x01-\x08\x0e-\x1f\x7f]', '', 'g');
        END IF;
    ELSE
        t := lower(normalize(words, NFKD));

        IF t ~ '[\u0660-\u0669\u06f0-\u06f9]' THEN
            t := translate(t, E'\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669'
                '\u06f0\u06f1\u06f2\u06f3\u06f4\u06f5\u06f6\u06f7\u06f8\u06f9', '01234567890123456789');
        END IF;

        IF t ~ '[\x09\x0b-\x0d`\u0085\u0131\u02bb\u02bc\u02be\u02bf\u03c2\u060c\u061b\u061f\u066b\u066c\u0671-\u0673\u06a9\u06aa\u06be]'
            OR t ~ '[\u06c1\u06c3\u06cc-\u06ce\u06d0-\u06d2\u06d5\u1680\u2010-\u201b\u2028\u2029\u2032\u2212]'
        THEN
            t := translate(t,
                E'\u0671\u0672\u0673\u06cc\u06cd\u06ce\u06d0\u06d1\u06d2\u06c1\u06be\u06c3\u06d5\u06a9\u06aa\u03c2\u0131'
                '\u2010\u2011\u2012\u2013\u2014\u2015\u2212`\u02bb\u02bc\u02be\u02bf\u2018\u2019\u201b\u2032\u060c\u066c\u061b\u061f\u066b'
                '\t\x0b\x0c\r\u0085\u1680\u2028\u2029',
                E'\u0627\u0627\u0627\u064a\u064a\u064a\u064a\u064a\u064a\u0647\u0647\u0647\u0647\u0643\u0643\u03c3i'
                '-------'''''''''''''''''',,;?.        ');
        END IF;

        -- Teh marbuta and alef maksura are in many names.
        t := replace(replace(t, E'\u0629', E'\u0647'), E'\u0649', E'\u064a');
        t := regexp_replace(t, '[\u0001-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2'
            '\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0621\u0640\u064b-\u065f\u0670\u0674\u06d6-\u06ed\u08ca-\u08ff\u115f\u1160\u17b4\u17b5'
            '\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u2800\ufe00-\ufe0f\ufe20-\ufe2f'
            '\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]', '', 'g');
    END IF;

    WHILE position('  ' IN t) > 0 LOOP
        t := replace(t, '  ', ' ');
    END LOOP;

    -- "Abd ", " Allah" and " al-Din": names that are written in one word, too.
    t := replace(replace(replace(t, E'\u0639\u0628\u062f ', E'\u0639\u0628\u062f'), E' \u0627\u0644\u0644\u0647', E'\u0627\u0644\u0644\u0647'),
        E' \u0627\u0644\u062f\u064a\u0646', E'\u0627\u0644\u062f\u064a\u0646');

    LOOP
        WHILE position(E'\u0648\u0648' IN t) > 0 LOOP
            t := replace(t, E'\u0648\u0648', E'\u0648');
        END LOOP;

        EXIT WHEN position(E'\u0627\u0628\u0648 ' IN t) = 0; -- "Abu "
        t := replace(t, E'\u0627\u0628\u0648 ', E'\u0627\u0628\u0648');
    END LOOP;

    RETURN t;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY records_payout_reference_new ON financial_records USING gin (search_fold_new(payout_reference) gin_trgm_ops)
    WHERE payout_reference IS NOT NULL;
--bun:split
-- Texts of ledger entries: columns beside the generated ones, which would write the table anew under a lock.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    ALTER TABLE record_texts ADD COLUMN IF NOT EXISTS trip_title_new text, ADD COLUMN IF NOT EXISTS details_new text;

    -- It is replaced at the exchange. When all is run again after that, the columns of the names of before are its own.
    IF to_regprocedure('search_fold_before(text)') IS NULL THEN
        CREATE OR REPLACE FUNCTION fold_record_text() RETURNS trigger LANGUAGE plpgsql AS $fold$
        BEGIN
            NEW.trip_title_new := search_fold_new(NEW.trip_title);
            NEW.details_new := search_fold_new(NEW.details);

            RETURN NEW;
        END $fold$;
    ELSE
        CREATE OR REPLACE FUNCTION fold_record_text() RETURNS trigger LANGUAGE plpgsql AS $fold$
        BEGIN
            NEW.trip_title_new := search_fold_new(NEW.trip_title);
            NEW.details_new := search_fold_new(NEW.details);
            NEW.trip_title_folded := NEW.trip_title_new;
            NEW.details_folded := NEW.details_new;

            RETURN NEW;
        END $fold$;
    END IF;

    CREATE OR REPLACE TRIGGER record_texts_folded BEFORE INSERT OR UPDATE ON record_texts FOR EACH ROW EXECUTE FUNCTION fold_record_text();
END $$;
--bun:split
DO $$ DECLARE
    past bigint := 0;
    ids  bigint[];
BEGIN
    LOOP
        ids := ARRAY(SELECT id FROM record_texts WHERE id > past ORDER BY id LIMIT 1000);
        EXIT WHEN cardinality(ids) = 0;

        UPDATE record_texts SET trip_title_new = NULL WHERE id = ANY (ids); -- which the trigger fills
        COMMIT;
        past := ids[cardinality(ids)];
    END LOOP;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY record_texts_search_new ON record_texts USING gin (trip_title_new gin_trgm_ops, details_new gin_trgm_ops);
--bun:split
-- Words of bookings: where the two folds differ, both are there until the exchange. The index stays.
CREATE OR REPLACE FUNCTION booking_words(b bookings) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words CONSTANT text := concat_ws(E'\n', b.booking_number, b.contact_name, b.contact_email,
        (SELECT string_agg(p ->> 'name', E'\n') FROM jsonb_array_elements(b.passengers) AS p));
BEGIN
    RETURN search_fold_new(words) || E'\n' || search_phone(b.contact_phone)
        || CASE WHEN search_fold_new(words) <> search_fold(words) THEN E'\n' || search_fold(words) ELSE '' END;
END $$;
--bun:split
-- One booking at a time is locked, and before its words, as by everybody who writes both.
DO $$ DECLARE
    past  uuid := '00000000-0000-0000-0000-000000000000';
    known uuid[];
    one   uuid;
BEGIN
    LOOP
        known := ARRAY(SELECT booking_id FROM booking_texts WHERE booking_id > past ORDER BY booking_id LIMIT 1000);
        EXIT WHEN cardinality(known) = 0;

        FOR one IN
            SELECT b.id FROM bookings AS b JOIN booking_texts AS bt ON bt.booking_id = b.id
            WHERE b.id = ANY (known) AND bt.words <> booking_words(b) ORDER BY b.id
        LOOP
            PERFORM FROM bookings WHERE id = one FOR SHARE;
            UPDATE booking_texts SET words = (SELECT booking_words(b) FROM bookings AS b WHERE b.id = one) WHERE booking_id = one;
            COMMIT;
        END LOOP;

        COMMIT;
        past := known[cardinality(known)];
    END LOOP;
END $$;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    ALTER TABLE record_texts DROP CONSTRAINT IF EXISTS record_texts_folded,
        ADD CONSTRAINT record_texts_folded CHECK (trip_title_new IS NOT NULL AND details_new IS NOT NULL) NOT VALID;
END $$;
--bun:split
ALTER TABLE record_texts VALIDATE CONSTRAINT record_texts_folded;
--bun:split
-- The exchange. The old function stays until the next version: a statement may be between being read and being run.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    LOCK TABLE record_texts IN ACCESS EXCLUSIVE MODE;

    DROP FUNCTION IF EXISTS search_fold_before(text);
    ALTER FUNCTION search_fold(text) RENAME TO search_fold_before;
    ALTER FUNCTION search_fold_new(text) RENAME TO search_fold;

    ALTER INDEX records_payout_reference RENAME TO records_payout_reference_before;
    ALTER INDEX records_payout_reference_new RENAME TO records_payout_reference;

    ALTER TABLE record_texts DROP COLUMN trip_title_folded, DROP COLUMN details_folded; -- and their index
    ALTER TABLE record_texts RENAME COLUMN trip_title_new TO trip_title_folded;
    ALTER TABLE record_texts RENAME COLUMN details_new TO details_folded;
    ALTER INDEX record_texts_search_new RENAME TO record_texts_search;
    CREATE OR REPLACE FUNCTION fold_record_text() RETURNS trigger LANGUAGE plpgsql AS $fold$
    BEGIN
        NEW.trip_title_folded := search_fold(NEW.trip_title);
        NEW.details_folded := search_fold(NEW.details);

        RETURN NEW;
    END $fold$;

    CREATE OR REPLACE FUNCTION search_phone(phone text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ltrim(regexp_replace(regexp_replace(search_fold(phone), '[^0-9]', '', 'g'), '^(00)?9660', '966'), '0');

    CREATE OR REPLACE FUNCTION booking_words(b bookings) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN search_fold(concat_ws(E'\n', b.booking_number, b.contact_name, b.contact_email,
            (SELECT string_agg(p ->> 'name', E'\n') FROM jsonb_array_elements(b.passengers) AS p)))
        || E'\n' || search_phone(b.contact_phone);
END $$;
--bun:split
DROP INDEX CONCURRENTLY IF EXISTS records_payout_reference_before;
