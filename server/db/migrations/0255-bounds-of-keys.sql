-- What a key may do: in a minute, a day, a week or a month, and at once. A month's bound of tokens
-- stays in api_keys.month_limit.
ALTER TABLE api_keys
  ADD COLUMN used_for text NOT NULL DEFAULT '',
  ADD COLUMN paused boolean NOT NULL DEFAULT false,
  ADD COLUMN at_once integer,
  -- Tokens of one call, prompt and answer together; null: as the model has it.
  ADD COLUMN call_tokens integer,
  -- The secret before the last change of it, and until when it opens something.
  ADD COLUMN old_hash bytea UNIQUE,
  ADD COLUMN old_until timestamptz;

CREATE TABLE api_key_limits (
  key_id bigint NOT NULL REFERENCES api_keys,
  per text NOT NULL CHECK (per IN ('minute', 'day', 'week', 'month')),
  -- requests; tokens of prompts and answers as they are counted; tokens of money that are taken.
  unit text NOT NULL CHECK (unit IN ('requests', 'tokens', 'taken')),
  most bigint NOT NULL CHECK (most > 0),
  PRIMARY KEY (key_id, per, unit)
);

-- Calls of keys with bounds: what is set aside for those that run, and for a minute what was used by
-- those that ended. They take the place of api_reservations and api_key_months, which processes of
-- the version before still use.
CREATE TABLE api_running (
  id uuid PRIMARY KEY,
  key_id bigint NOT NULL REFERENCES api_keys,
  -- The process that works on it: what it had set aside is given back when it is gone.
  instance_id integer NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  tokens bigint NOT NULL,
  taken bigint NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX api_running_of_key ON api_running (key_id);
CREATE INDEX api_running_age ON api_running (expires_at);

-- What is left of each bound of a key, what one of its calls has set aside counted as left.
CREATE FUNCTION api_key_room(the_key bigint, but uuid)
RETURNS TABLE (per text, unit text, most bigint, room bigint) LANGUAGE sql AS $$
  WITH bound AS (
    SELECT l.per, l.unit, l.most FROM api_key_limits l WHERE l.key_id = the_key
    UNION ALL
    SELECT 'month', 'taken', k.month_limit FROM api_keys k
    WHERE k.id = the_key AND k.month_limit IS NOT NULL
  )
  SELECT b.per, b.unit, b.most, (b.most
    - CASE WHEN b.per = 'minute' THEN 0 ELSE (
        SELECT coalesce(sum(CASE b.unit WHEN 'requests' THEN u.count
            WHEN 'tokens' THEN u.prompt_tokens + u.completion_tokens
            ELSE u.deduct_prompt + u.deduct_completion END), 0)
        FROM api_usage u
        WHERE u.key_id = the_key
          AND u.day >= date_trunc(b.per, clock_timestamp() AT TIME ZONE 'Asia/Shanghai')::date
      ) END
    - (SELECT coalesce(sum(CASE b.unit WHEN 'requests' THEN 1 WHEN 'tokens' THEN r.tokens ELSE r.taken END), 0)
       FROM api_running r
       WHERE r.key_id = the_key AND r.id IS DISTINCT FROM but AND r.expires_at > clock_timestamp()
         AND (r.ended_at IS NULL OR b.per = 'minute')))::bigint
  FROM bound b
$$;

-- Sets aside for a call what it may use, or more of it; gives the bound that has no room for it, such
-- as 'day taken 5000' or 'at_once'. The key's row is locked, so that of calls at once, in whichever
-- process, each sees what those before it set aside.
CREATE FUNCTION api_call_take(
  the_id uuid, the_key bigint, instance integer, more_tokens bigint, more_taken bigint, ms float8
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  parallel integer;
  fresh boolean;
  full_bound text;
BEGIN
  SELECT at_once INTO parallel FROM api_keys WHERE id = the_key FOR NO KEY UPDATE;
  fresh := NOT EXISTS (SELECT FROM api_running WHERE id = the_id);
  IF fresh AND parallel <= (SELECT count(*) FROM api_running
      WHERE key_id = the_key AND ended_at IS NULL AND expires_at > clock_timestamp()) THEN
    RETURN 'at_once';
  END IF;
  SELECT r.per || ' ' || r.unit || ' ' || r.most INTO full_bound FROM api_key_room(the_key, NULL) r
  WHERE r.room < CASE r.unit WHEN 'requests' THEN fresh::int WHEN 'tokens' THEN more_tokens ELSE more_taken END
  ORDER BY array_position(ARRAY['month', 'week', 'day', 'minute'], r.per) LIMIT 1;
  IF full_bound IS NOT NULL THEN
    RETURN full_bound;
  END IF;
  INSERT INTO api_running AS r (id, key_id, instance_id, tokens, taken, expires_at)
  VALUES (the_id, the_key, instance, more_tokens, more_taken, clock_timestamp() + ms * interval '1 millisecond')
  ON CONFLICT (id) DO UPDATE
    SET tokens = r.tokens + excluded.tokens, taken = r.taken + excluded.taken;
  RETURN NULL;
END
$$;

-- Tokens of money that a call may take at most, no other call being able to change it until the
-- transaction ends; null: it has no such bound.
CREATE FUNCTION api_call_room(the_id uuid, the_key bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM api_keys WHERE id = the_key FOR NO KEY UPDATE;
  RETURN (SELECT greatest(0, min(room)) FROM api_key_room(the_key, the_id) WHERE unit = 'taken');
END
$$;
