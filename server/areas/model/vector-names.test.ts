import { expect, test } from 'vitest';
import { isChatModel } from './model-names.ts';
import { isEmbeddingModel } from '#server/engines/embedding/model-names.ts';

test('models of vectors are known by their names, and nobody chats with them', () => {
  for (const name of [
    'text-embedding-3-small',
    'all-minilm:latest',
    'paraphrase-multilingual-MiniLM-L12-v2',
    'embeddinggemma:300m',
    'shibing624/text2vec-base-chinese',
    'BAAI/bge-m3',
    'multilingual-e5-small',
    'voyage-3-lite',
  ])
    expect([name, isEmbeddingModel(name), isChatModel(name)]).toEqual([name, true, false]);
  for (const name of ['gemma3:4b', 'qwen3-0.6b', 'gpt-4o-mini', 'stable-code', 'minimax-m2'])
    expect([name, isEmbeddingModel(name), isChatModel(name)]).toEqual([name, false, true]);
});
