-- The lists of companies, accounts, buses, hotels, rest stops, trips and campaigns are searched as bookings are: by folded words, of which
-- each row has its own beside it. Not in one transaction: the words of what is there are written, and the indexes made, beside the work on
-- the tables, and each change that locks gives up after 3 s. All of it can be run again after a failure half-way. Replicas of the version
-- before search the columns themselves, by indexes that a later migration drops.
CREATE TABLE IF NOT EXISTS subject_texts (
    subject_id uuid PRIMARY KEY,
    kind       text NOT NULL, -- the table that it is in
    words      text NOT NULL
);
--bun:split
-- subject_words are the columns of a row that its list is searched by, one line each. Phones are there as they are written and as digits,
-- plates also without what people write between their parts.
CREATE OR REPLACE FUNCTION subject_words(fields jsonb, columns text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT coalesce(string_agg(CASE name
        WHEN 'phone' THEN search_fold(fields ->> name) || E'\n' || search_phone(fields ->> name)
        WHEN 'plate_number' THEN search_fold(fields ->> name) || E'\n' || translate(search_fold(fields ->> name), ' -', '')
        ELSE search_fold(fields ->> name)
    END, E'\n' ORDER BY n), '') FROM unnest(columns) WITH ORDINALITY AS c (name, n));
--bun:split
-- It runs as the owner: the role of API and worker may only read the words.
CREATE OR REPLACE FUNCTION write_subject_words() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM subject_texts WHERE subject_id = OLD.id;
    ELSE
        INSERT INTO subject_texts (subject_id, kind, words) VALUES (NEW.id, TG_TABLE_NAME, subject_words(to_jsonb(NEW), TG_ARGV::text[]))
        ON CONFLICT (subject_id) DO UPDATE SET words = EXCLUDED.words;
    END IF;

    RETURN NULL;
END $$;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER providers_worded AFTER INSERT OR UPDATE OF name, email, phone ON providers
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('name', 'email', 'phone');
    CREATE OR REPLACE TRIGGER providers_unworded AFTER DELETE ON providers FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'providers', subject_words(to_jsonb(t), '{name,email,phone}') FROM providers AS t
ON CONFLICT DO NOTHING;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER users_worded AFTER INSERT OR UPDATE OF name, email, phone ON users
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('name', 'email', 'phone');
    CREATE OR REPLACE TRIGGER users_unworded AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'users', subject_words(to_jsonb(t), '{name,email,phone}') FROM users AS t
ON CONFLICT DO NOTHING;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER buses_worded AFTER INSERT OR UPDATE OF plate_number, model, driver_name ON buses
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('plate_number', 'model', 'driver_name');
    CREATE OR REPLACE TRIGGER buses_unworded AFTER DELETE ON buses FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'buses', subject_words(to_jsonb(t), '{plate_number,model,driver_name}') FROM buses AS t
ON CONFLICT DO NOTHING;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER hotels_worded AFTER INSERT OR UPDATE OF name, city ON hotels
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('name', 'city');
    CREATE OR REPLACE TRIGGER hotels_unworded AFTER DELETE ON hotels FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'hotels', subject_words(to_jsonb(t), '{name,city}') FROM hotels AS t
ON CONFLICT DO NOTHING;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER rest_stops_worded AFTER INSERT OR UPDATE OF name, city ON rest_stops
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('name', 'city');
    CREATE OR REPLACE TRIGGER rest_stops_unworded AFTER DELETE ON rest_stops FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'rest_stops', subject_words(to_jsonb(t), '{name,city}') FROM rest_stops AS t
ON CONFLICT DO NOTHING;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER trips_worded AFTER INSERT OR UPDATE OF title, origin, destination ON trips
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('title', 'origin', 'destination');
    CREATE OR REPLACE TRIGGER trips_unworded AFTER DELETE ON trips FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'trips', subject_words(to_jsonb(t), '{title,origin,destination}') FROM trips AS t
ON CONFLICT DO NOTHING;
--bun:split
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';
    CREATE OR REPLACE TRIGGER ad_campaigns_worded AFTER INSERT OR UPDATE OF title, description ON ad_campaigns
        FOR EACH ROW EXECUTE FUNCTION write_subject_words('title', 'description');
    CREATE OR REPLACE TRIGGER ad_campaigns_unworded AFTER DELETE ON ad_campaigns FOR EACH ROW EXECUTE FUNCTION write_subject_words();
END $$;
--bun:split
INSERT INTO subject_texts (subject_id, kind, words) SELECT id, 'ad_campaigns', subject_words(to_jsonb(t), '{title,description}') FROM ad_campaigns AS t
ON CONFLICT DO NOTHING;
--bun:split
-- What is half made is made anew.
DO $$ DECLARE half text; BEGIN
    SET LOCAL lock_timeout = '3s';

    FOR half IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'subject_texts'::regclass AND NOT indisvalid LOOP
        EXECUTE 'DROP INDEX ' || half;
    END LOOP;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_providers ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'providers';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_users ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'users';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_buses ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'buses';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_hotels ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'hotels';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_rest_stops ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'rest_stops';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_trips ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'trips';
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS subject_texts_ad_campaigns ON subject_texts USING gin (words gin_trgm_ops) WITH (fastupdate = off)
    WHERE kind = 'ad_campaigns';
