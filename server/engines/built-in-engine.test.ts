import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '#common/chat-message.ts';
import { createBuiltInEngine } from './built-in-engine.ts';
import type { ChatPart } from './chat-engine.ts';

describe('the engine', () => {
  const request = (content: string, signal = new AbortController().signal) => ({
    model: 'builtin-assistant',
    messages: [{ role: 'user' as const, content }],
    temperature: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    signal,
  });
  const engine = createBuiltInEngine({
    help: () => ({ search: () => [] }),
    quoteFiles: async () => [],
    rate: 240,
  });

  it('writes in small pieces, whole characters, and counts nothing', async () => {
    let text = '';
    let parts = 0;
    await engine.write(request('反转：👨‍👩‍👧😀好'), ([part]) => {
      if (part?.kind === 'text') text += part.text;
      else expect(part).toEqual({ kind: 'usage', promptTokens: 0, completionTokens: 0 });
      parts += 1;
    });
    expect(text).toContain('好😀👨‍👩‍👧');
    expect(parts).toBeGreaterThan(2);
  });

  it('stops at once with the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    let parts = 0;
    const written = engine.write(request('你能做什么', stop.signal), (batch) => {
      parts += batch.length;
      if (parts === 3) stop.abort(reason);
    });
    await expect(written).rejects.toBe(reason);
    expect(parts).toBe(3);
  });
});

const told = async (messages: ChatMessage[], tools: string[]) => {
  const parts: ChatPart[] = [];
  await createBuiltInEngine({
    help: () => ({ search: () => [] }),
    quoteFiles: async () => [],
    rate: 0,
  }).write(
    {
      model: 'x',
      messages,
      temperature: 1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      signal: new AbortController().signal,
      tools: tools.map((name) => ({ name, description: '', parameters: {} })),
    },
    (more) => parts.push(...more),
  );
  return parts;
};

it('calls the tool that a question is for, where it may, and answers with what that gave', async () => {
  const question: ChatMessage = { role: 'user', content: '(1200-300)*15% 等于多少' };
  const called = await told([question], ['reckon', 'date']);
  expect(called[0]).toMatchObject({ kind: 'call', name: 'reckon' });
  expect((await told([question], ['date']))[0]).toMatchObject({ kind: 'text' });
  const given = await told(
    [
      question,
      { role: 'assistant', content: '', calls: [{ id: 'a', name: 'reckon', arguments: '{}' }] },
      { role: 'tool', callId: 'a', content: '135' },
    ],
    ['reckon'],
  );
  expect(given[0]).toEqual({ kind: 'text', text: '135' });
  expect(
    (await told([{ role: 'user', content: '帮我在本站搜索合同' }], ['search_here']))[0],
  ).toMatchObject({
    name: 'search_here',
    arguments: '{"query":"合同"}',
  });
});
