-- The list of all bookings by departure walks trips in their order and takes each trip's bookings: without an index it joins and sorts all
-- of them for every page. Not in one transaction: the index is made beside the work on trips, and the drop of one that is half made gives up
-- after 3 s. It can be run again after a failure.
DO $$ BEGIN
    SET LOCAL lock_timeout = '3s';

    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('trips_departure') AND NOT indisvalid) THEN
        DROP INDEX trips_departure;
    END IF;
END $$;
--bun:split
CREATE INDEX CONCURRENTLY IF NOT EXISTS trips_departure ON trips (departure_at);
