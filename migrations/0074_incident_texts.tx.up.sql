-- What an incident says, as a key of the catalogues with its arguments, beside the English sentence: people read it in their language, and in
-- the words of now (decision 0094). Earlier incidents have the sentence only.
SET LOCAL lock_timeout = '3s';

ALTER TABLE incidents ADD COLUMN message_text jsonb
    CONSTRAINT incidents_message_text_check CHECK (jsonb_typeof(message_text) = 'object' AND message_text ? 'key');
