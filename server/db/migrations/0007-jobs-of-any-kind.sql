-- A job is about any kind of thing: a message of a session, an image, a project, an order.
ALTER TABLE jobs ADD COLUMN subject_kind text NOT NULL DEFAULT 'message';
ALTER TABLE jobs ADD COLUMN subject_id bigint;
UPDATE jobs SET subject_id = history_id;
ALTER TABLE jobs ALTER COLUMN subject_id SET NOT NULL;
ALTER TABLE jobs ALTER COLUMN session_id DROP NOT NULL;
ALTER TABLE jobs ALTER COLUMN history_id DROP NOT NULL;
CREATE INDEX jobs_of_subject ON jobs (subject_kind, subject_id, id DESC);
