-- Where whoever a case is about acted from last, so that an address has its record, too. Empty: no
-- records are kept.
ALTER TABLE safety_cases ADD COLUMN ip text NOT NULL DEFAULT '';
CREATE INDEX safety_cases_of_address ON safety_cases (ip, id DESC) WHERE ip <> '';
