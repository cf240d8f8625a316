-- Services that embed texts or train styles, added by managers like the others.
ALTER TABLE channels DROP CONSTRAINT channels_kind_check,
  ADD CONSTRAINT channels_kind_check CHECK (kind IN ('built-in', 'openai-compatible',
    'stable-diffusion-webui', 'midjourney', 'stability', 'embedding', 'replicate'));
-- What such a service needs besides: names of its models, its trainer, where results go.
ALTER TABLE channels ADD COLUMN options jsonb NOT NULL DEFAULT '{}';
