-- Services that answer chats in words of their own: Anthropic's messages, Gemini's generateContent.
ALTER TABLE channels DROP CONSTRAINT channels_kind_check,
  ADD CONSTRAINT channels_kind_check CHECK (kind IN ('built-in', 'openai-compatible', 'anthropic',
    'gemini', 'stable-diffusion-webui', 'midjourney', 'stability', 'embedding', 'replicate'));
