-- Services that search the web, each by the words of its own; json-search: any that answers in JSON.
ALTER TABLE channels DROP CONSTRAINT channels_kind_check,
  ADD CONSTRAINT channels_kind_check CHECK (kind IN ('built-in', 'openai-compatible', 'anthropic',
    'gemini', 'stable-diffusion-webui', 'midjourney', 'stability', 'embedding', 'replicate',
    'searxng', 'bocha', 'tavily', 'brave', 'json-search'));
