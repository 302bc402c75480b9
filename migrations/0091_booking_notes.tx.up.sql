-- What staff have noted about a booking. A note is written once.
SET LOCAL lock_timeout = '3s';

CREATE TABLE booking_notes (
    id         uuid PRIMARY KEY,
    booking_id uuid NOT NULL REFERENCES bookings (id),
    author_id  uuid NOT NULL REFERENCES users (id),
    note       text NOT NULL CONSTRAINT booking_notes_length CHECK (length(note) BETWEEN 1 AND 2000),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX booking_notes_booking ON booking_notes (booking_id, created_at DESC, id DESC);

CREATE FUNCTION refuse_note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a note never changes' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER booking_notes_append_only BEFORE UPDATE OR DELETE ON booking_notes
    FOR EACH ROW EXECUTE FUNCTION refuse_note_change();
CREATE TRIGGER booking_notes_no_truncate BEFORE TRUNCATE ON booking_notes
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_note_change();
