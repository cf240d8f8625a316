-- Where a passage stands in its file, as people are told: { page, sheet, row, toRow, slide, heading }.
-- Empty: of a program that did not know it; then its column `page` counts.
ALTER TABLE knowledge_chunks ADD COLUMN place jsonb NOT NULL DEFAULT '{}';
