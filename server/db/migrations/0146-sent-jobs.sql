-- Something of it is out at a service that takes nothing back: its person's stop does not end it.
ALTER TABLE jobs ADD COLUMN sent boolean NOT NULL DEFAULT false;
