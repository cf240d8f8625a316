import { expect, test } from 'vitest';
import { mediaOfferOf } from './media-models.ts';

test.each([
  ['sora-2', 4],
  ['sora-2-pro', 4],
  ['Wan-AI/Wan2.2-I2V-A14B', 4],
  ['tts-1', 3],
  ['tts-1-hd', 3],
  ['gpt-4o-mini-tts', 3],
  ['FunAudioLLM/CosyVoice2-0.5B', 3],
  ['whisper-1', 2],
  ['gpt-4o-transcribe', 2],
  ['FunAudioLLM/SenseVoiceSmall', 2],
])('%s is of type %i', (name, type) => {
  expect(mediaOfferOf(name)?.type).toBe(type);
});

test.each(['gpt-4o', 'gpt-4o-mini', 'deepseek-chat', 'dall-e-3', 'text-embedding-3-small'])(
  '%s neither films nor speaks nor listens',
  (name) => expect(mediaOfferOf(name)).toBeNull(),
);
