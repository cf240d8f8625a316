-- What managers chose of a model of pictures: its sizes, its checkpoints and their prices. It holds
-- over what its service says of itself.
ALTER TABLE models ADD COLUMN image_choice jsonb;
