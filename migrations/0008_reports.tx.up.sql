-- The texts that ledger entries are searched by. Entries are many and their texts are few: a search looks through the texts.
-- Nothing keeps two transactions from adding the same text at once, so that neither waits for the other; then each of the
-- two has some of the entries, and a search finds both.
CREATE TABLE record_texts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    trip_title text NOT NULL,
    details    text NOT NULL, -- of claw-backs without the number at the end, which is another one each time
    -- As ILIKE sees them, so that it need not look again each time.
    trip_title_lower text GENERATED ALWAYS AS (lower(trip_title)) STORED,
    details_lower    text GENERATED ALWAYS AS (lower(details)) STORED
);
CREATE INDEX record_texts_text ON record_texts (md5(trip_title || E'\n' || details));
CREATE INDEX record_texts_search ON record_texts USING gin (trip_title_lower gin_trgm_ops, details_lower gin_trgm_ops);

-- searched_details is what a search looks through in the details of an entry, but for the number of a claw-back.
CREATE FUNCTION searched_details(kind text, details text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE kind WHEN 'CLAWBACK' THEN regexp_replace(details, 'RH-[0-9]+-[0-9]+$', '') ELSE details END;

-- record_text_id finds the text of an entry, and adds it if it is new.
CREATE FUNCTION record_text_id(kind text, title text, details text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    searched CONSTANT text := searched_details(kind, details);
    found_id bigint;
BEGIN
    SELECT t.id INTO found_id FROM record_texts AS t
    WHERE md5(t.trip_title || E'\n' || t.details) = md5(title || E'\n' || searched) AND t.trip_title = title AND t.details = searched
    ORDER BY t.id LIMIT 1;

    IF NOT FOUND THEN
        INSERT INTO record_texts (trip_title, details) VALUES (title, searched) RETURNING id INTO found_id;
    END IF;

    RETURN found_id;
END $$;

-- Of record_texts, from which nothing is ever deleted: a foreign key would lock the row of the text with every entry.
ALTER TABLE financial_records ADD COLUMN text_id bigint;
UPDATE financial_records SET text_id = record_text_id(kind, trip_title, details);
ALTER TABLE financial_records ALTER COLUMN text_id SET NOT NULL;

CREATE FUNCTION set_record_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.text_id := record_text_id(NEW.kind, NEW.trip_title, NEW.details);

    RETURN NEW;
END $$;
CREATE TRIGGER records_text_set BEFORE INSERT ON financial_records
    FOR EACH ROW WHEN (NEW.text_id IS NULL) EXECUTE FUNCTION set_record_text();
CREATE TRIGGER records_text_changed BEFORE UPDATE OF kind, trip_title, details ON financial_records
    FOR EACH ROW EXECUTE FUNCTION set_record_text();

-- What the ledger entries of a day add up to, kept exact in the SQL transaction of every change to an entry, so that reports
-- and the totals of lists cost the same however many entries there are.

CREATE TABLE report_days (
    provider_id                uuid NOT NULL, -- all zeros: the whole platform
    day                        date NOT NULL, -- record_date
    slot                       smallint NOT NULL, -- a day is the sum of its slots; writers at the same time use different ones
    gross_amount               numeric(20, 2) NOT NULL,
    platform_commission_amount numeric(20, 2) NOT NULL,
    net_amount                 numeric(20, 2) NOT NULL,
    vat_amount                 numeric(20, 2) NOT NULL,
    in_current_balance_amount  numeric(20, 2) NOT NULL,
    transferred_amount         numeric(20, 2) NOT NULL,
    refunded_amount            numeric(20, 2) NOT NULL,
    advertising_revenue_amount numeric(20, 2) NOT NULL,
    bookings_count             bigint NOT NULL, -- SALE, not REFUNDED
    campaigns_count            bigint NOT NULL, -- ADVERTISING, not REFUNDED
    in_current_balance_count   bigint NOT NULL, -- entries by balance_status, of every kind
    transferred_count          bigint NOT NULL,
    refunded_count             bigint NOT NULL,
    PRIMARY KEY (provider_id, day, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- How many entries there are of a text: per company and day, per company, per day, and in all. What a search finds is the
-- sum of what its texts have.
CREATE TABLE report_texts (
    text_id                  bigint NOT NULL,
    provider_id              uuid NOT NULL, -- all zeros: the whole platform
    day                      date NOT NULL, -- record_date; -infinity: all days
    slot                     smallint NOT NULL, -- as in report_days
    in_current_balance_count bigint NOT NULL,
    transferred_count        bigint NOT NULL,
    refunded_count           bigint NOT NULL,
    PRIMARY KEY (text_id, provider_id, day, slot)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX report_texts_all ON report_texts (provider_id, text_id) WHERE day = '-infinity'; -- of very many texts

-- report_lines adds the entries of its transition table, or takes them away with -1 for its argument.
-- A slot belongs to one open transaction at a time, and no transaction ever waits for one: a slot that is taken is passed over. So
-- writers neither queue on the row of today nor can they deadlock here, and there are as many slots as there ever were
-- writers at the same time.
CREATE FUNCTION report_lines() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign CONSTANT int := TG_ARGV[0];
    free smallint := 0;
BEGIN
    IF NOT EXISTS (SELECT FROM lines) THEN
        RETURN NULL;
    END IF;

    WHILE NOT pg_try_advisory_xact_lock(728194608, free) LOOP
        free := free + 1;
    END LOOP;

    INSERT INTO report_days AS d
    SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END, record_date, free,
        sign * coalesce(sum(gross_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(platform_commission_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(vat_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0),
        sign * coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0),
        sign * sum(refunded_amount),
        sign * coalesce(sum(gross_amount) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'), 0),
        sign * count(*) FILTER (WHERE kind = 'SALE' AND balance_status <> 'REFUNDED'),
        sign * count(*) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'),
        sign * count(*) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'),
        sign * count(*) FILTER (WHERE balance_status = 'TRANSFERRED'),
        sign * count(*) FILTER (WHERE balance_status = 'REFUNDED')
    FROM lines GROUP BY GROUPING SETS ((record_date, provider_id), (record_date))
    ON CONFLICT (provider_id, day, slot) DO UPDATE SET
        gross_amount = d.gross_amount + EXCLUDED.gross_amount,
        platform_commission_amount = d.platform_commission_amount + EXCLUDED.platform_commission_amount,
        net_amount = d.net_amount + EXCLUDED.net_amount,
        vat_amount = d.vat_amount + EXCLUDED.vat_amount,
        in_current_balance_amount = d.in_current_balance_amount + EXCLUDED.in_current_balance_amount,
        transferred_amount = d.transferred_amount + EXCLUDED.transferred_amount,
        refunded_amount = d.refunded_amount + EXCLUDED.refunded_amount,
        advertising_revenue_amount = d.advertising_revenue_amount + EXCLUDED.advertising_revenue_amount,
        bookings_count = d.bookings_count + EXCLUDED.bookings_count,
        campaigns_count = d.campaigns_count + EXCLUDED.campaigns_count,
        in_current_balance_count = d.in_current_balance_count + EXCLUDED.in_current_balance_count,
        transferred_count = d.transferred_count + EXCLUDED.transferred_count,
        refunded_count = d.refunded_count + EXCLUDED.refunded_count;

    INSERT INTO report_texts AS t
    SELECT text_id, CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
        CASE GROUPING(record_date) WHEN 0 THEN record_date ELSE '-infinity' END, free,
        sign * count(*) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'),
        sign * count(*) FILTER (WHERE balance_status = 'TRANSFERRED'),
        sign * count(*) FILTER (WHERE balance_status = 'REFUNDED')
    FROM lines GROUP BY text_id, CUBE (provider_id, record_date)
    ON CONFLICT (text_id, provider_id, day, slot) DO UPDATE SET
        in_current_balance_count = t.in_current_balance_count + EXCLUDED.in_current_balance_count,
        transferred_count = t.transferred_count + EXCLUDED.transferred_count,
        refunded_count = t.refunded_count + EXCLUDED.refunded_count;

    RETURN NULL;
END $$;

CREATE TRIGGER records_reported AFTER INSERT ON financial_records
    REFERENCING NEW TABLE AS lines FOR EACH STATEMENT EXECUTE FUNCTION report_lines('1');
CREATE TRIGGER records_unreported AFTER DELETE ON financial_records
    REFERENCING OLD TABLE AS lines FOR EACH STATEMENT EXECUTE FUNCTION report_lines('-1');
CREATE TRIGGER records_changed_from AFTER UPDATE ON financial_records
    REFERENCING OLD TABLE AS lines FOR EACH STATEMENT EXECUTE FUNCTION report_lines('-1');
CREATE TRIGGER records_changed_to AFTER UPDATE ON financial_records
    REFERENCING NEW TABLE AS lines FOR EACH STATEMENT EXECUTE FUNCTION report_lines('1');

CREATE FUNCTION report_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM report_days;
    DELETE FROM report_texts;

    RETURN NULL;
END $$;
CREATE TRIGGER records_emptied AFTER TRUNCATE ON financial_records
    FOR EACH STATEMENT EXECUTE FUNCTION report_nothing();

-- rebuild_reports makes both tables anew from the entries, in one slot. Writers of entries wait for it; readers do not. It is
-- what a bulk load with the triggers off ends with.
CREATE FUNCTION rebuild_reports() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE financial_records IN SHARE MODE;
    DELETE FROM report_days;

    INSERT INTO report_days
    SELECT CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END, record_date, 0,
        coalesce(sum(gross_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(platform_commission_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(net_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(vat_amount) FILTER (WHERE kind <> 'CLAWBACK' AND balance_status <> 'REFUNDED'), 0),
        coalesce(sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0),
        coalesce(sum(net_amount) FILTER (WHERE transferred_at IS NOT NULL), 0),
        sum(refunded_amount),
        coalesce(sum(gross_amount) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'), 0),
        count(*) FILTER (WHERE kind = 'SALE' AND balance_status <> 'REFUNDED'),
        count(*) FILTER (WHERE kind = 'ADVERTISING' AND balance_status <> 'REFUNDED'),
        count(*) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'),
        count(*) FILTER (WHERE balance_status = 'TRANSFERRED'),
        count(*) FILTER (WHERE balance_status = 'REFUNDED')
    FROM financial_records GROUP BY GROUPING SETS ((record_date, provider_id), (record_date));

    DELETE FROM report_texts;

    INSERT INTO report_texts
    SELECT text_id, CASE GROUPING(provider_id) WHEN 0 THEN provider_id ELSE '00000000-0000-0000-0000-000000000000' END,
        CASE GROUPING(record_date) WHEN 0 THEN record_date ELSE '-infinity' END, 0,
        coalesce(sum(n) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE'), 0), coalesce(sum(n) FILTER (WHERE balance_status = 'TRANSFERRED'), 0),
        coalesce(sum(n) FILTER (WHERE balance_status = 'REFUNDED'), 0)
    FROM (
        SELECT text_id, provider_id, record_date, balance_status, count(*) AS n FROM financial_records GROUP BY 1, 2, 3, 4
    ) AS lines GROUP BY text_id, CUBE (provider_id, record_date);
END $$;

SELECT rebuild_reports();

-- The orders of the list, ties going up by id; those that its pages are found in hold what filters and searches look at,
-- too.
DROP INDEX records_date, records_provider_date;
CREATE INDEX records_date ON financial_records (record_date DESC, id) INCLUDE (balance_status, text_id);
CREATE INDEX records_provider_date ON financial_records (provider_id, record_date DESC, id) INCLUDE (balance_status, text_id);
CREATE INDEX records_created ON financial_records (created_at, id);
CREATE INDEX records_gross ON financial_records (gross_amount, id);
CREATE INDEX records_net ON financial_records (net_amount, id);

-- What a search looks at: the entries of a text, numbers by how they begin and by any part of them, and those in the
-- details of claw-backs.
CREATE INDEX records_text ON financial_records (text_id, record_date DESC, id) INCLUDE (provider_id, balance_status);
CREATE INDEX records_number ON financial_records (transaction_number text_pattern_ops);
CREATE INDEX records_number_part ON financial_records USING gin (transaction_number gin_trgm_ops) WITH (fastupdate = off);
CREATE INDEX records_clawback ON financial_records USING gin (details gin_trgm_ops) WHERE kind = 'CLAWBACK';

-- A page far from the first is found in an index alone, if vacuum has been there: not only after a fifth has been added.
ALTER TABLE financial_records SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
