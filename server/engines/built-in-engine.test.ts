import { describe, expect, it } from 'vitest';
import { createBuiltInEngine } from './built-in-engine.ts';

describe('the engine', () => {
  const request = (content: string, signal = new AbortController().signal) => ({
    model: 'builtin-assistant',
    messages: [{ role: 'user' as const, content }],
    temperature: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    signal,
  });
  const engine = createBuiltInEngine({ help: () => ({ search: () => [] }), rate: 240 });

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
