-- Which state of an incident the orchestrator shows to operators: a workflow runs for as long as it is open. NULL: none yet.
ALTER TABLE incidents ADD COLUMN shown text CHECK (shown IN ('OPEN', 'RESOLVED'));
UPDATE incidents SET shown = status WHERE status = 'RESOLVED';
CREATE INDEX incidents_to_show ON incidents (created_at) WHERE shown IS DISTINCT FROM status;
