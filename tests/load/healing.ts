import { TestClient } from '../support/client.ts';
import { type Scenario, startMockOpenAi } from '../support/mock-openai.ts';
import { ADMIN_PASSWORD, startServer } from '../support/server.ts';
import { startScratch } from '../support/scratch.ts';
import { now, numbersOf, quantile } from './lib/measure.ts';

/**
 * Two channels, of which the preferred one fails in a given way: calls that fail though the other one
 * could answer, and the time to the first word beside calls of a model that the good one alone has,
 * asked in turn within the same run.
 *
 *   npx tsx tests/load/healing.ts [--calls=200] [--faults=429,slow]
 */
const [calls = 200] = numbersOf('calls', [200]);
const wanted = process.argv
  .find((each) => each.startsWith('--faults='))
  ?.slice(9)
  .split(',');
const atOnce = 4;
/** A service's own time to its first word, ms. */
const ownDelay = 120;
const allFaults: readonly Scenario[] = [
  'hang-before',
  'hang-first',
  'slow',
  '500',
  'cut-before',
  'cut-first',
  'garbage',
  'html',
  'empty',
  'no-model',
  '429',
  '429-bare',
  '403',
  'quota',
  '401',
];
const faults = allFaults.filter((each) => wanted?.includes(each) ?? true);

const endScratch = startScratch();
const [bad, good] = [await startMockOpenAi(), await startMockOpenAi()];
good.firstMs = ownDelay;
const server = await startServer({
  embedded: true,
  env: {
    API_REQUESTS: '1000000000',
    API_TOKENS: '1000000000',
    RATE_LIMIT: '1000000000',
    SIGNUP_TOKENS: '1000000000',
    LOG_LEVEL: 'error',
  },
});

/** Time to the first word, ms; null: the call failed. */
const ask = async (key: string, model: string, said: string): Promise<number | null> => {
  const begun = now();
  const answer = await fetch(`${server.baseURL}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: 100,
      messages: [{ role: 'user', content: said }],
    }),
  });
  if (!answer.ok || !answer.body) return null;
  let first: number | null = null;
  let text = '';
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (first === null && text.includes('"content":"')) first = now() - begun;
  }
  return text.includes('[DONE]') && !text.includes('"error"') ? first : null;
};

try {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const modelOf = (fault: string) => ({ name: `heal-${fault}` });
  for (const [mock, priority] of [
    [bad, 0],
    [good, 1],
  ] as const)
    await manager.call('saveChannel', {
      kind: 'openai-compatible',
      base_url: mock.baseURL,
      label: priority === 0 ? 'failing' : 'well',
      priority,
      api_key: 'sk-one-1111\nsk-two-2222',
      models: [...faults.map(modelOf), ...(priority === 1 ? [{ name: 'well-alone' }] : [])],
    });
  const { full_key: key } = await manager.call('genKey', {});
  const rows = [];
  for (const fault of faults) {
    bad.always(fault);
    const own: number[] = [];
    const healed: number[] = [];
    let failed = 0;
    let left = calls;
    const one = async () => {
      while (left > 0) {
        left -= 1;
        const said = `${left} hello`;
        const alone = await ask(key, 'well-alone', said);
        if (alone !== null) own.push(alone);
        const both = await ask(key, `heal-${fault}`, said);
        if (both === null) failed += 1;
        else healed.push(both);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    const [floor, p95] = [quantile(own, 0.95), quantile(healed, 0.95)];
    rows.push({
      fault,
      calls,
      failed,
      'own p95 ms': Math.round(floor),
      'p50 ms': Math.round(quantile(healed, 0.5)),
      'p95 ms': Math.round(p95),
      'added p95 / own p95': Number(((p95 - floor) / floor).toFixed(2)),
      'longest ms': Math.round(Math.max(...healed)),
    });
  }
  console.table(rows);
} finally {
  await server.stop();
  await bad.close();
  await good.close();
  endScratch();
}
