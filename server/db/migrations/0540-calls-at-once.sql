-- Calls that each process has running at a channel that may have so many at once.
CREATE TABLE channel_running (
  channel_id bigint NOT NULL REFERENCES channels ON DELETE CASCADE,
  -- The process: what it had running counts no more when it is gone.
  instance_id integer NOT NULL,
  running integer NOT NULL CHECK (running >= 0),
  PRIMARY KEY (channel_id, instance_id)
);

-- Says how many calls a process has running at a channel, and takes up to `more` places beside them;
-- gives how many it got. The channel's row is locked, so that processes see what those before them
-- took. Class 7217001 holds the locks of living processes.
CREATE FUNCTION channel_room_take(
  the_channel bigint, process integer, has integer, more integer, most integer
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  others integer;
  got integer;
BEGIN
  PERFORM FROM channels WHERE id = the_channel FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN more;
  END IF;
  SELECT coalesce(sum(r.running), 0) INTO others FROM channel_running r
    WHERE r.channel_id = the_channel AND r.instance_id <> process;
  IF others > 0 AND has + more + others > most THEN
    DELETE FROM channel_running r WHERE r.channel_id = the_channel AND r.instance_id <> process
      AND NOT EXISTS (SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 7217001::oid
          AND l.objid = r.instance_id::oid
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()));
    SELECT coalesce(sum(r.running), 0) INTO others FROM channel_running r
      WHERE r.channel_id = the_channel AND r.instance_id <> process;
  END IF;
  got := least(more, greatest(0, most - has - others));
  INSERT INTO channel_running AS r (channel_id, instance_id, running)
  VALUES (the_channel, process, has + got)
  ON CONFLICT (channel_id, instance_id) DO UPDATE SET running = excluded.running;
  RETURN got;
END
$$;
