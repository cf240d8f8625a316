-- Works that programs began, until what they took is counted for their key.
CREATE TABLE api_jobs (
  job_uuid uuid PRIMARY KEY,
  charge_id uuid NOT NULL,
  key_id bigint NOT NULL REFERENCES api_keys,
  user_id bigint NOT NULL REFERENCES users,
  model text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
