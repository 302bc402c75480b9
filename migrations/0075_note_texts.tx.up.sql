-- A note that the service itself has written, as a key of the catalogues with its arguments, beside the English sentence: people read it in
-- their language (decision 0094). Notes of people, and earlier notes of the service, have the sentence only.
SET LOCAL lock_timeout = '3s';

ALTER TABLE incidents ADD COLUMN note_text jsonb
    CONSTRAINT incidents_note_text_check CHECK (jsonb_typeof(note_text) = 'object' AND note_text ? 'key');
ALTER TABLE refund_approvals ADD COLUMN note_text jsonb
    CONSTRAINT refund_approvals_note_text_check CHECK (jsonb_typeof(note_text) = 'object' AND note_text ? 'key');
ALTER TABLE refund_payouts ADD COLUMN note_text jsonb
    CONSTRAINT refund_payouts_note_text_check CHECK (jsonb_typeof(note_text) = 'object' AND note_text ? 'key');
