-- The row of the person is locked first and read then: what was still there when a statement began may
-- have been emptied by whoever is waited for.
CREATE OR REPLACE FUNCTION refuse_the_gone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ended timestamptz;
BEGIN
  SELECT erased_at INTO ended FROM users WHERE id = NEW.user_id FOR KEY SHARE;
  IF ended IS NOT NULL THEN
    RAISE EXCEPTION 'the account of this row has been ended' USING ERRCODE = 'QG001';
  END IF;
  RETURN NEW;
END $$;
