-- What a process tells of itself every half minute, for 服务状态.
ALTER TABLE instances
  ADD COLUMN host text,
  ADD COLUMN version text,
  -- How busy its thread was, 0 to 1, and what it holds, bytes.
  ADD COLUMN load real,
  ADD COLUMN memory bigint,
  ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now();
