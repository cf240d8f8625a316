-- A ticket that opens the stream of one reply and nothing else: it is shown to another server.
-- No reference: such a ticket lives for a minute, and removing a message must not look for it.
ALTER TABLE tickets ADD COLUMN history_id bigint;
