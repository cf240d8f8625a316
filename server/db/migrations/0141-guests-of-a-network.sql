-- What the guests of one network keep is summed up with each file of theirs.
CREATE INDEX users_made_in ON users (made_in) WHERE guest AND made_in IS NOT NULL;
