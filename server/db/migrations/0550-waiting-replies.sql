-- Answers that wait for their person, by whom: after a sign-in at a server of tools they go on.
CREATE INDEX history_waiting ON history (user_id) WHERE state = 'waiting';
