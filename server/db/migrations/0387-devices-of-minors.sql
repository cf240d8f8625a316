-- What the browsers that a minor's account was used in carry in a cookie: signed out there, the same
-- rules go on. It says nothing of the account.
ALTER TABLE minors ADD COLUMN device uuid NOT NULL DEFAULT gen_random_uuid();
CREATE UNIQUE INDEX minors_by_device ON minors (device);
