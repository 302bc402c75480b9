-- What a bus has for travellers with reduced mobility, in the company's words.
-- holds buses: a company has a few of them.
SET LOCAL lock_timeout = '3s';

ALTER TABLE buses ADD COLUMN accessibility text NOT NULL DEFAULT '' CHECK (char_length(accessibility) <= 200);
