-- Who looks after an incident, and what people have found out about it (decision 0069).
ALTER TABLE incidents ADD COLUMN assigned_to uuid REFERENCES users (id);
CREATE INDEX incidents_assigned ON incidents (assigned_to, created_at DESC, id) WHERE assigned_to IS NOT NULL;

-- A note is written once: what was thought at the time is part of the story.
CREATE TABLE incident_notes (
    id          uuid PRIMARY KEY,
    incident_id uuid NOT NULL REFERENCES incidents (id),
    author_id   uuid NOT NULL REFERENCES users (id),
    note        text NOT NULL CONSTRAINT incident_notes_length CHECK (length(note) BETWEEN 1 AND 2000),
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX incident_notes_incident ON incident_notes (incident_id, created_at, id);
