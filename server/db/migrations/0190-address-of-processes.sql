-- Where other processes reach one that serves people, as origins by comma.
ALTER TABLE instances ADD COLUMN address text;
