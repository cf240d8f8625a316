import { expect, test } from 'vitest';
import { colorOf, isChatModel, isLowCost, isVisionModel, prettyLabel } from './model-names.ts';

test.each([
  ['gpt-4o-mini', 'GPT-4o mini'],
  ['chatgpt-4o-latest', 'ChatGPT-4o Latest'],
  ['deepseek-chat', 'DeepSeek Chat'],
  ['deepseek-ai/DeepSeek-V3', 'DeepSeek V3'],
  ['qwen2.5:7b', 'Qwen2.5 (7b)'],
  ['llama3.1:latest', 'Llama3.1'],
  ['glm-4-flash', 'GLM-4 Flash'],
  ['dall-e-3', 'DALL-E 3'],
  ['gpt-image-1', 'GPT image-1'],
  ['o3-mini', 'o3 mini'],
  ['claude-sonnet-4', 'Claude Sonnet 4'],
  ['claude-sonnet-4-5', 'Claude Sonnet 4.5'],
  ['claude-3-5-haiku-20241022', 'Claude 3.5 Haiku 20241022'],
  ['qwen-vl-max', 'Qwen VL Max'],
  ['kimi-k2', 'Kimi K2'],
  ['my_own_model', 'My Own Model'],
  ['/', '/'],
])('%s is written %s', (name, label) => {
  expect(prettyLabel(name)).toBe(label);
});

test.each([
  'text-embedding-3-small',
  'nomic-embed-text:latest',
  'BAAI/bge-large-zh',
  'tts-1-hd',
  'whisper-1',
  'dall-e-3',
  'gpt-image-1',
  'gpt-4o-audio-preview',
  'gpt-4o-realtime-preview',
  'omni-moderation-latest',
  'gpt-3.5-turbo-instruct',
  'wan2.1',
  'stabilityai/stable-diffusion-3',
  'FunAudioLLM/SenseVoiceSmall',
])('%s is not for chat', (name) => {
  expect(isChatModel(name)).toBe(false);
});

test.each(['gpt-4o', 'deepseek-reasoner', 'qwen-vl-max', 'swan-7b', 'o1', 'gemini-2.5-flash'])(
  '%s is for chat',
  (name) => {
    expect(isChatModel(name)).toBe(true);
  },
);

test('cheap models are known by their names, and colours stay', () => {
  expect(isLowCost('gpt-4o-mini')).toBe(true);
  expect(isLowCost('gpt-4o')).toBe(false);
  expect(colorOf('gpt-4o')).toBe(colorOf('gpt-4o'));
  expect(colorOf('gpt-4o')).toMatch(/^#[0-9a-f]{6}$/);
});

test.each([
  'gpt-4o-mini',
  'gpt-4.1',
  'gpt-5',
  'o3',
  'claude-sonnet-4',
  'claude-3-5-haiku',
  'gemini-2.0-flash',
  'qwen-vl-max',
  'Qwen/Qwen2.5-VL-72B-Instruct',
  'glm-4v-flash',
  'llava:13b',
  'llama3.2-vision:latest',
  'gemma3:12b',
  'mock-vision',
])('%s sees', (name) => {
  expect(isVisionModel(name)).toBe(true);
});

test.each([
  'deepseek-chat',
  'qwen2.5:7b',
  'gpt-3.5-turbo',
  'o3-mini',
  'glm-4-flash',
  'llama3.1',
  'mock-chat',
])('%s does not see', (name) => {
  expect(isVisionModel(name)).toBe(false);
});
