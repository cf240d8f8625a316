-- What api_running and api_usage replaced in 0255. The release that still wrote to them ran beside the
-- one of 0255 at most; no process that is updated from a later one knows them.
DROP TABLE api_reservations;
DROP TABLE api_key_months;
