-- The audit log is sealed by a hash chain: each entry's digest is taken as it is written, and a seal covers the digests of the entries
-- since the seal before, and that seal's hash. Where an entry comes from is kept with it.

-- What the log had before is marked off by its newest time: no writer may be under way. A transaction that runs for long makes this
-- migration fail after some seconds instead of stopping every refund and log-in that long.
SET LOCAL lock_timeout = '3s';
LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE;

ALTER TABLE audit_log
    ADD COLUMN address    text NOT NULL DEFAULT '', -- of the network that the actor came from
    ADD COLUMN user_agent text NOT NULL DEFAULT '';

-- A seal covers entries of one month (UTC), so that a month can leave the table with its seals staying behind, which prove its file.
CREATE TABLE audit_seals (
    number    bigint PRIMARY KEY CHECK (number > 0),
    previous  bytea NOT NULL UNIQUE CHECK (octet_length(previous) = 32), -- the hash of the seal before; of none: zeros
    hash      bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    since     timestamptz NOT NULL,                                      -- created_at of the oldest of its entries
    until     timestamptz NOT NULL CHECK (until >= since),               -- and of the newest
    noted_at  timestamptz,                                               -- when the first was written; NULL: before there were seals
    sealed_at timestamptz NOT NULL,
    entries   uuid[] NOT NULL CHECK (cardinality(entries) > 0),          -- by created_at and id
    digests   bytea[] NOT NULL CHECK (cardinality(digests) = cardinality(entries))
);
CREATE INDEX audit_seals_sealed ON audit_seals (sealed_at);
CREATE INDEX audit_seals_until ON audit_seals (until);

-- What no seal covers yet: written in the transaction of the entry, and deleted by seal_audit_log(). So an entry is sealed however late
-- its transaction commits, and its digest is that of what was written. There is no index: the table holds the entries of some seconds.
CREATE TABLE audit_unsealed (
    entry      uuid NOT NULL,
    created_at timestamptz NOT NULL,
    noted_at   timestamptz, -- NULL: from before there were seals
    digest     bytea NOT NULL CHECK (octet_length(digest) = 32)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_insert_threshold = -1);

-- How far the entries from before this migration are sealed: those behind (created_at, id) and not of after `until` wait. One row, or
-- none when all are.
CREATE TABLE audit_seal_start (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    created_at timestamptz NOT NULL,
    id         uuid NOT NULL,
    until      timestamptz NOT NULL,
    begun_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO audit_seal_start (created_at, id, until)
SELECT '-infinity', '00000000-0000-0000-0000-000000000000', max(created_at) FROM audit_log HAVING max(created_at) IS NOT NULL;

-- A field is its length in bytes, a colon and its text; of NULL a minus. Each stands on a line of its own (docs/decisions/0067).
CREATE FUNCTION audit_field(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(octet_length(value) || ':' || value, '-') || E'\n'
$$;

-- Times are microseconds since 1970, whatever the session's settings are.
CREATE FUNCTION audit_micros(moment timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT trunc(extract(epoch FROM moment) * 1000000)::bigint::text
$$;

CREATE FUNCTION audit_entry_digest(
    id uuid, created_at timestamptz, actor_id uuid, actor_role text, operator text, action text, entity text, entity_id uuid,
    address text, user_agent text, request_id text, details jsonb
) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT sha256(convert_to(E'rihla audit entry 1\n'
        || audit_field(id::text) || audit_field(audit_micros(created_at)) || audit_field(actor_id::text) || audit_field(actor_role)
        || audit_field(operator) || audit_field(action) || audit_field(entity) || audit_field(entity_id::text)
        || audit_field(address) || audit_field(user_agent) || audit_field(request_id) || audit_field(details::text), 'UTF8'))
$$;

CREATE FUNCTION audit_seal_hash(
    number bigint, previous bytea, since timestamptz, until timestamptz, noted_at timestamptz, sealed_at timestamptz,
    entries uuid[], digests bytea[]
) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT sha256(convert_to(E'rihla audit seal 1\n'
        || audit_field(number::text) || audit_field(encode(previous, 'hex')) || audit_field(audit_micros(since))
        || audit_field(audit_micros(until)) || audit_field(audit_micros(noted_at)) || audit_field(audit_micros(sealed_at))
        || audit_field(cardinality(entries)::text)
        || (SELECT string_agg(e.id || ' ' || encode(e.digest, 'hex') || E'\n', '' ORDER BY e.position)
            FROM unnest(entries, digests) WITH ORDINALITY AS e (id, digest, position)), 'UTF8'))
$$;

-- It runs as the owner: the role of API and worker writes entries, and has no right to what seals them.
CREATE FUNCTION note_audit_entries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO audit_unsealed (entry, created_at, noted_at, digest)
    SELECT id, created_at, clock_timestamp(), audit_entry_digest(id, created_at, actor_id, actor_role, operator, action, entity,
        entity_id, address, user_agent, request_id, details)
    FROM entries;

    RETURN NULL;
END $$;
CREATE TRIGGER audit_log_noted AFTER INSERT ON audit_log REFERENCING NEW TABLE AS entries
    FOR EACH STATEMENT EXECUTE FUNCTION note_audit_entries();

-- make_months moves what has come before its month was made out of the default partition, and nothing else deletes an entry.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit_log_default' THEN
        RETURN OLD;
    END IF;

    RAISE EXCEPTION 'audit_log is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE FUNCTION refuse_seal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_seals is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER seals_append_only BEFORE UPDATE OR DELETE ON audit_seals FOR EACH ROW EXECUTE FUNCTION refuse_seal_change();
CREATE TRIGGER seals_no_truncate BEFORE TRUNCATE ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_seal_change();

-- It is for seal_audit_log, which runs as the owner: another role has no right to the table.
CREATE FUNCTION add_audit_seal(since timestamptz, until timestamptz, noted_at timestamptz, entries uuid[], digests bytea[])
RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    next   bigint := 1;
    before bytea := decode(repeat('00', 32), 'hex');
    moment timestamptz := clock_timestamp();
    last   record;
BEGIN
    SELECT s.number, s.hash INTO last FROM audit_seals AS s ORDER BY s.number DESC LIMIT 1;

    IF FOUND THEN
        next := last.number + 1;
        before := last.hash;
    END IF;

    INSERT INTO audit_seals (number, previous, hash, since, until, noted_at, sealed_at, entries, digests)
    VALUES (next, before, audit_seal_hash(next, before, since, until, noted_at, moment, entries, digests),
        since, until, noted_at, moment, entries, digests);
END $$;

-- seal_audit_log seals at most so many entries, and returns how many it has. One session seals at a time, and for another there is
-- nothing to do; should two ever come to the same number, the key lets one of them. It reads what is committed, so it waits for no
-- writer, and none waits for it. Entries from before there were seals come first: they are told from those that have come since then
-- by not being in audit_unsealed.
CREATE FUNCTION seal_audit_log(at_most int) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    start audit_seal_start;
    batch record;
    n     bigint := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(728194609, 3) THEN
        RETURN 0;
    END IF;

    SELECT * INTO start FROM audit_seal_start;

    IF FOUND THEN
        FOR batch IN
            WITH past AS (
                SELECT l.id, l.created_at, audit_entry_digest(l.id, l.created_at, l.actor_id, l.actor_role, l.operator, l.action, l.entity,
                    l.entity_id, l.address, l.user_agent, l.request_id, l.details) AS digest
                FROM audit_log AS l
                WHERE l.created_at >= start.created_at AND l.created_at <= start.until
                    AND (l.created_at > start.created_at OR l.id > start.id)
                    AND l.id NOT IN (SELECT u.entry FROM audit_unsealed AS u WHERE u.created_at <= start.until)
                ORDER BY l.created_at, l.id LIMIT at_most)
            SELECT min(created_at) AS since, max(created_at) AS until, array_agg(id ORDER BY created_at, id) AS entries,
                array_agg(digest ORDER BY created_at, id) AS digests
            FROM past GROUP BY date_trunc('month', created_at, 'UTC') ORDER BY 1
        LOOP
            PERFORM add_audit_seal(batch.since, batch.until, NULL, batch.entries, batch.digests);
            UPDATE audit_seal_start SET created_at = batch.until, id = batch.entries[cardinality(batch.entries)];
            n := n + cardinality(batch.entries);
        END LOOP;

        IF n > 0 THEN
            RETURN n;
        END IF;

        DELETE FROM audit_seal_start;
    END IF;

    FOR batch IN
        WITH taken AS (
            -- The oldest month first: what is left over is of the newest one, so that the seals of two months do not alternate.
            DELETE FROM audit_unsealed WHERE ctid = ANY (ARRAY(
                SELECT u.ctid FROM audit_unsealed AS u ORDER BY date_trunc('month', u.created_at, 'UTC') LIMIT at_most))
            RETURNING entry, created_at, noted_at, digest)
        SELECT min(created_at) AS since, max(created_at) AS until, min(noted_at) AS noted_at,
            array_agg(entry ORDER BY created_at, entry) AS entries, array_agg(digest ORDER BY created_at, entry) AS digests
        FROM taken GROUP BY date_trunc('month', created_at, 'UTC'), noted_at IS NULL ORDER BY 1
    LOOP
        PERFORM add_audit_seal(batch.since, batch.until, batch.noted_at, batch.entries, batch.digests);
        n := n + cardinality(batch.entries);
    END LOOP;

    RETURN n;
END $$;

-- On a table of another role's own it would note entries that are none. A trigger fires all the same.
REVOKE EXECUTE ON FUNCTION note_audit_entries() FROM PUBLIC;
