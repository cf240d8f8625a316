-- Where a guest was made, as a digest of the network: guests cost nothing, so that all of a network
-- count as one person where people are counted.
ALTER TABLE users ADD COLUMN made_in text;
