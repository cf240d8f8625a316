import { expect, test, vi } from 'vitest';
import { createKnowledgeService } from './embedding.service.ts';

test('of a question its beginning is looked at alone, where the help is asked, too', async () => {
  const bases = { find: async () => ({ built_in: true }) };
  const knowledge = createKnowledgeService({ bases, embeddings: {}, originals: {} } as never);
  const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  const question = `怎样充值余额？${'很长的问题'.repeat(10_000)}`;
  const found = await knowledge.tryOut(null as never, 'help', question, null, async () => false);
  expect(found.length).toBeGreaterThan(0);
  expect(segment).toHaveBeenCalled();
  for (const [text] of segment.mock.calls) expect(text.length).toBeLessThan(400);
});
