-- What a company's photos take up is added up before each upload. The table has some rows for each bus: the index is made in one short step.
SET LOCAL lock_timeout = '3s';
CREATE INDEX bus_photos_provider ON bus_photos (provider_id) INCLUDE (size);
