import { expect, test } from 'vitest';
import type { Executor } from '../db/database.ts';
import { knowledgeOn } from './embedding.service.ts';

// The built-in base stands in no database.
const db = {} as Executor;

test('a model is told what the knowledge base says, or that it says nothing', async () => {
  const strict = await knowledgeOn(db, 'help', '余额不足怎么办', { strict: true });
  expect(strict).toMatch(/只能依据[^]*【资料 1】[^]*余额/);
  expect(await knowledgeOn(db, 'help', '余额不足怎么办')).not.toContain('只能依据');
  expect(await knowledgeOn(db, 'help', '量子纠缠态')).toContain('没有找到');
});
