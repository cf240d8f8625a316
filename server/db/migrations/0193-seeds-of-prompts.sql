-- The title under which a template came with the program; null: a person or a manager wrote it. Two
-- of one title may stand beside each other, and one that a manager renamed does not come again.
ALTER TABLE prompt_templates ADD COLUMN seed text;
UPDATE prompt_templates SET seed = title WHERE user_id IS NULL;
CREATE UNIQUE INDEX prompt_templates_seed ON prompt_templates (type, seed) WHERE seed IS NOT NULL;
DROP INDEX prompt_templates_built_in;
