-- What providers run: buses, hotels, rest stops, trips. All of it is soft-deleted.
-- UNIQUE (id, provider_id) exists so that a trip's foreign keys can name the provider too:
-- the database itself refuses a trip with another company's bus (spec 2.8).

CREATE TABLE buses (
    id             uuid PRIMARY KEY,
    provider_id    uuid NOT NULL REFERENCES providers (id),
    plate_number   text NOT NULL CHECK (plate_number <> ''),
    model          text NOT NULL CHECK (model <> ''),
    capacity       int NOT NULL CHECK (capacity BETWEEN 1 AND 100),
    driver_name    text NOT NULL CHECK (driver_name <> ''),
    driver_phone   text NOT NULL DEFAULT '',
    driver_license text NOT NULL DEFAULT '',
    features       text[] NOT NULL DEFAULT '{}',
    status         text NOT NULL CHECK (status IN ('ACTIVE', 'INACTIVE', 'UNDER_MAINTENANCE')),
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    deleted_at     timestamptz,
    UNIQUE (id, provider_id)
);
CREATE UNIQUE INDEX buses_plate_live ON buses (provider_id, plate_number) WHERE deleted_at IS NULL;

CREATE TABLE hotels (
    id          uuid PRIMARY KEY,
    provider_id uuid NOT NULL REFERENCES providers (id),
    name        text NOT NULL CHECK (name <> ''),
    city        text NOT NULL CHECK (city <> ''),
    stars       smallint CHECK (stars BETWEEN 1 AND 7),
    address     text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    status      text NOT NULL CHECK (status IN ('ACTIVE', 'INACTIVE')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    deleted_at  timestamptz,
    UNIQUE (id, provider_id)
);
CREATE INDEX hotels_provider_live ON hotels (provider_id, created_at) WHERE deleted_at IS NULL;

CREATE TABLE rest_stops (
    id          uuid PRIMARY KEY,
    provider_id uuid NOT NULL REFERENCES providers (id),
    name        text NOT NULL CHECK (name <> ''),
    city        text NOT NULL CHECK (city <> ''),
    latitude    numeric(9, 6) CHECK (latitude BETWEEN -90 AND 90),
    longitude   numeric(9, 6) CHECK (longitude BETWEEN -180 AND 180),
    amenities   text[] NOT NULL DEFAULT '{}',
    status      text NOT NULL CHECK (status IN ('ACTIVE', 'INACTIVE')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    deleted_at  timestamptz,
    UNIQUE (id, provider_id)
);
CREATE INDEX rest_stops_provider_live ON rest_stops (provider_id, created_at) WHERE deleted_at IS NULL;

CREATE TABLE trips (
    id             uuid PRIMARY KEY,
    provider_id    uuid NOT NULL REFERENCES providers (id),
    type           text NOT NULL CHECK (type IN ('UMRAH', 'TOURISM')),
    title          text NOT NULL CHECK (title <> ''),
    origin         text NOT NULL CHECK (origin <> ''),
    destination    text NOT NULL CHECK (destination <> ''),
    departure_at   timestamptz NOT NULL,
    return_at      timestamptz NOT NULL,
    hotel_id       uuid,
    bus_id         uuid NOT NULL,
    price_per_seat numeric(14, 2) NOT NULL CHECK (price_per_seat > 0),
    capacity       int NOT NULL CHECK (capacity BETWEEN 1 AND 100),
    seats_taken    int NOT NULL DEFAULT 0,
    status         text NOT NULL DEFAULT 'DRAFT' CHECK (status IN ('DRAFT', 'PUBLISHED', 'CANCELLED')),
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    deleted_at     timestamptz,
    UNIQUE (id, provider_id),
    CONSTRAINT trips_hotel_unless_umrah CHECK (type = 'UMRAH' OR hotel_id IS NOT NULL),
    CONSTRAINT trips_return_after_departure CHECK (return_at > departure_at),
    -- The last line of defence against selling a seat twice.
    CONSTRAINT trips_seats CHECK (seats_taken BETWEEN 0 AND capacity),
    FOREIGN KEY (hotel_id, provider_id) REFERENCES hotels (id, provider_id),
    FOREIGN KEY (bus_id, provider_id) REFERENCES buses (id, provider_id)
);
CREATE INDEX trips_provider_live ON trips (provider_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX trips_catalogue ON trips (departure_at, id) WHERE deleted_at IS NULL AND status = 'PUBLISHED';
CREATE INDEX trips_hotel ON trips (hotel_id);
CREATE INDEX trips_bus ON trips (bus_id);

CREATE TABLE trip_rest_stops (
    trip_id      uuid NOT NULL,
    rest_stop_id uuid NOT NULL,
    provider_id  uuid NOT NULL,
    position     int NOT NULL,
    PRIMARY KEY (trip_id, rest_stop_id),
    FOREIGN KEY (trip_id, provider_id) REFERENCES trips (id, provider_id),
    FOREIGN KEY (rest_stop_id, provider_id) REFERENCES rest_stops (id, provider_id)
);
CREATE INDEX trip_rest_stops_stop ON trip_rest_stops (rest_stop_id);
