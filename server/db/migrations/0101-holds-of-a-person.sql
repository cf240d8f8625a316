-- What is set aside for other answers is counted with each spend.
CREATE INDEX holds_open_of_person ON holds (user_id) WHERE state = 'open';
