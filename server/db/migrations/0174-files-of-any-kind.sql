-- What managers upload may be of any kind; what is neither an image nor a text is only ever downloaded.
ALTER TABLE files DROP CONSTRAINT files_kind_check;
ALTER TABLE files ADD CONSTRAINT files_kind_check CHECK (kind IN ('image', 'text', 'other'));
