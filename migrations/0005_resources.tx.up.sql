-- What the provider portal and the catalogue need beyond the tables: photos of buses, and lists that stay quick.

-- The file itself is in the object storage, under blob_key.
CREATE TABLE bus_photos (
    id           uuid PRIMARY KEY,
    bus_id       uuid NOT NULL,
    provider_id  uuid NOT NULL,
    content_type text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png', 'image/webp')),
    size         bigint NOT NULL CHECK (size > 0), -- bytes
    blob_key     text NOT NULL UNIQUE,
    position     int NOT NULL, -- in the order of upload; gaps are left by deletions
    created_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (bus_id, position),
    FOREIGN KEY (bus_id, provider_id) REFERENCES buses (id, provider_id)
);

-- Searches are substrings in any case, which only trigrams can find by an index.
-- Without fastupdate: the lists are read far more often than written, and a pending list would be scanned each time.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE INDEX providers_search ON providers USING gin (name gin_trgm_ops, email gin_trgm_ops, phone gin_trgm_ops) WITH (fastupdate = off);
CREATE INDEX buses_search ON buses
    USING gin (plate_number gin_trgm_ops, model gin_trgm_ops, driver_name gin_trgm_ops) WITH (fastupdate = off) WHERE deleted_at IS NULL;
CREATE INDEX hotels_search ON hotels USING gin (name gin_trgm_ops, city gin_trgm_ops) WITH (fastupdate = off) WHERE deleted_at IS NULL;
CREATE INDEX rest_stops_search ON rest_stops USING gin (name gin_trgm_ops, city gin_trgm_ops) WITH (fastupdate = off) WHERE deleted_at IS NULL;
CREATE INDEX trips_search ON trips
    USING gin (title gin_trgm_ops, origin gin_trgm_ops, destination gin_trgm_ops) WITH (fastupdate = off) WHERE deleted_at IS NULL;

-- Every booking counts its seats on its trip's row: with room on the page, that touches none of the indexes.
ALTER TABLE trips SET (fillfactor = 70);

-- The lists' own order, within a provider and across all of them.
CREATE INDEX providers_created ON providers (created_at, id);
CREATE INDEX buses_provider_live ON buses (provider_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX buses_live ON buses (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX hotels_live ON hotels (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX rest_stops_live ON rest_stops (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX trips_live ON trips (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX ad_campaigns_live ON ad_campaigns (created_at, id) WHERE deleted_at IS NULL;
