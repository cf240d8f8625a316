import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '#contract/chat.ts';
import { TestClient } from '../support/client.ts';
import { resultsIn, startScriptedModel, type SentBody } from '../support/scripted-model.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Loops over services that have OpenAI's words and say them as nobody else does. */

/** The events of the first round: later ones answer with how many results there are. */
let calling: object[] = [];
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let server: TestServer;
let person: TestClient;
const gemini = 'gemini-3-flash-preview';
const ollama = 'qwen3:8b';
const others = [
  'gpt-4o-mini',
  'deepseek-chat',
  'qwen3-32b',
  'glm-4.5-air',
  'kimi-k2.5',
  'doubao-seed-1-6-250615',
] as const;

beforeAll(async () => {
  model = await startScriptedModel((body) => {
    const results = resultsIn(body).length;
    return results === 0 ? { raw: calling } : { text: `${results} 个结果` };
  });
  server = await startServer({
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: [gemini, ollama, ...others].join(','),
      SIGNUP_TOKENS: '10000000',
    },
  });
  person = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await server.stop();
  await model.close();
});

/** Asks; gives the message when it is over and what the second round was sent. */
const looped = async (name: string): Promise<{ message: Message; sent: SentBody }> => {
  const { uuid } = await person.call('newSession', { type: 0, model: name });
  const { id } = await person.call('sendMessage', { session_id: uuid, msg: '请帮我算' });
  for (;;) {
    const { list } = await person.call('historyList', { session_id: uuid });
    const message = list.find((each) => each.id === id)!;
    if (message.state !== 'streaming') return { message, sent: model.bodies.at(-1)! };
    await sleep(50);
  }
};

/** The calls that were sent back, and that each result answers one of them in their order. */
const calledIn = ({ messages }: SentBody) => {
  const said = messages.findLast(({ tool_calls: calls }) => calls)!;
  const answered = messages
    .filter(({ role }) => role === 'tool')
    .map(({ tool_call_id }) => tool_call_id);
  const ids = said.tool_calls!.map(({ id }) => id);
  expect(answered).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain('');
  return said;
};

const question = (text: string) => JSON.stringify({ question: text });
const usage = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 };

/** A chunk of Gemini's: its calls have no index and are whole, its usage comes with each. */
const geminiChunk = (delta: object, finish?: string) => ({
  id: 'rs4nae7WJZ2BqtsP',
  object: 'chat.completion.chunk',
  created: 1_777_180_000,
  model: gemini,
  choices: [
    { index: 0, delta: { role: 'assistant', ...delta }, ...(finish && { finish_reason: finish }) },
  ],
  usage,
});
const geminiCall = (id: string, text: string, signature?: string) => ({
  ...(signature && { extra_content: { google: { thought_signature: signature } } }),
  function: { name: 'reckon', arguments: question(text) },
  id,
  type: 'function',
});

test("Gemini's calls go back with what they were signed with, and nobody sees that", async () => {
  const signature = 'EjQKMgEMOdbHJChLX75QUCJjyYlm';
  calling = [
    geminiChunk({
      tool_calls: [
        geminiCall('function-call-1', '12*12', signature),
        geminiCall('function-call-2', '3+4'),
      ],
    }),
    // It ends with `stop`, whatever it called.
    geminiChunk({}, 'stop'),
  ];
  const { message, sent } = await looped(gemini);
  expect(message).toMatchObject({ state: 'done', ai: '2 个结果', prompt_tokens: 100 });
  expect(message.tools?.map(({ state, result }) => [state, result])).toEqual([
    ['done', expect.stringContaining('144')],
    ['done', expect.stringContaining('7')],
  ]);
  const { tool_calls: calls } = calledIn(sent);
  expect(calls?.map(({ id, extra_content: extra }) => [id, extra])).toEqual([
    ['function-call-1', { google: { thought_signature: signature } }],
    ['function-call-2', undefined],
  ]);
  expect(JSON.stringify(message)).not.toContain(signature);
});

test('calls without ids or indexes, one to a chunk, stay apart; a signature may come by itself', async () => {
  calling = [
    geminiChunk({ tool_calls: [geminiCall('', '1+1')] }),
    geminiChunk({ tool_calls: [{ extra_content: { google: { thought_signature: 'one' } } }] }),
    geminiChunk({ tool_calls: [geminiCall('', '2+2', 'two')] }),
    geminiChunk({}, 'stop'),
  ];
  const { message, sent } = await looped(gemini);
  expect(message.tools?.map(({ arguments: given }) => given)).toEqual([
    question('1+1'),
    question('2+2'),
  ]);
  expect(message.tools?.every(({ state }) => state === 'done')).toBe(true);
  expect(calledIn(sent).tool_calls?.map(({ extra_content: extra }) => extra)).toEqual([
    { google: { thought_signature: 'one' } },
    { google: { thought_signature: 'two' } },
  ]);
});

test("Ollama's calls come whole, all of index 0, after what it thought under a name of its own", async () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'chatcmpl-838',
    object: 'chat.completion.chunk',
    created: 1_744_438_886,
    model: ollama,
    system_fingerprint: 'fp_ollama',
    choices: [
      { index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason: finish },
    ],
  });
  const call = (id: string, text: string) => ({
    id,
    index: 0,
    type: 'function',
    function: { name: 'reckon', arguments: question(text) },
  });
  calling = [
    chunk({ reasoning: '先' }),
    chunk({ reasoning: '算。' }),
    chunk({ tool_calls: [call('call_hk81qg8b', '5*5'), call('call_wteop8bt', '6*6')] }),
    chunk({ tool_calls: [call('call_rk2xye1l', '7*7')] }),
    // Some that stand before it say a call once more.
    chunk({ tool_calls: [call('call_rk2xye1l', '7*7')] }),
    chunk({}, 'tool_calls'),
    { ...chunk({}), choices: [], usage },
  ];
  const { message, sent } = await looped(ollama);
  expect(message).toMatchObject({ state: 'done', ai: '3 个结果', reasoning: '先算。' });
  const results = message.tools?.map(({ result }) => result);
  for (const [at, number] of ['25', '36', '49'].entries()) expect(results?.[at]).toContain(number);
  const said = calledIn(sent);
  expect(said.tool_calls?.map(({ id }) => id)).toEqual([
    'call_hk81qg8b',
    'call_wteop8bt',
    'call_rk2xye1l',
  ]);
  expect(said.tool_calls?.some((each) => 'extra_content' in each)).toBe(false);
});

/** What each service sends for two calls of one round, as it was recorded from it. */
const recorded: Record<(typeof others)[number], { chunks: object[]; ids: string[]; back: string }> =
  (() => {
    const one = (delta: object, rest: object = {}, top: object = {}) => ({
      object: 'chat.completion.chunk',
      created: 1_777_000_000,
      choices: [{ index: 0, delta, finish_reason: null, ...rest }],
      ...top,
    });
    const counted = { choices: [], usage };
    const ask = (index: number, id: string, words: string, more: object = {}) => ({
      tool_calls: [
        { index, id, type: 'function', function: { name: 'reckon', arguments: words }, ...more },
      ],
    });
    const grow = (index: number, words: string, more: object = {}, called: object = {}) => ({
      tool_calls: [{ index, function: { arguments: words, ...called }, ...more }],
    });
    const [first, second] = ['1+1', '2+2'].map(question) as [string, string];
    const halves = (words: string): [string, string] => [words.slice(0, 7), words.slice(7)];
    const inHalves = (index: number, words: string, more: object = {}, called: object = {}) =>
      halves(words).map((half) => one(grow(index, half, more, called)));
    return {
      // Name and number first, then the arguments in pieces; usage is null until the end.
      'gpt-4o-mini': {
        chunks: [
          one(
            { role: 'assistant', content: null, refusal: null },
            { logprobs: null },
            { usage: null },
          ),
          one(ask(0, 'call_DdmO9pD3xa9XTPNJ32zg2hcA', '')),
          ...inHalves(0, first),
          one(ask(1, 'call_z8ijGSoMLS7xcaU7MjLmpRL8', '')),
          ...inHalves(1, second),
          one({}, { finish_reason: 'tool_calls' }, { usage: null }),
          counted,
        ],
        ids: ['call_DdmO9pD3xa9XTPNJ32zg2hcA', 'call_z8ijGSoMLS7xcaU7MjLmpRL8'],
        back: '',
      },
      // It thinks first, with an empty text beside; within a loop it wants that back.
      'deepseek-chat': {
        chunks: [
          one({ role: 'assistant', content: null, reasoning_content: '' }),
          one({ content: null, reasoning_content: '先算' }),
          one({ content: null, reasoning_content: '一下' }),
          one({ content: '', reasoning_content: null }),
          one(ask(0, 'call_00_Tcek83ZQ4fFb1RfPQnsPEE5w', '')),
          ...inHalves(0, first),
          one(ask(1, 'call_01_0hFvwbfVfMqQ9p2eWc0mfVGE', '')),
          ...inHalves(1, second),
          one(
            { content: '', reasoning_content: null },
            { finish_reason: 'tool_calls' },
            { usage: { ...usage, prompt_cache_hit_tokens: 32, prompt_cache_miss_tokens: 18 } },
          ),
        ],
        ids: ['call_00_Tcek83ZQ4fFb1RfPQnsPEE5w', 'call_01_0hFvwbfVfMqQ9p2eWc0mfVGE'],
        back: '先算一下',
      },
      // Later pieces say an empty name and an empty number.
      'qwen3-32b': {
        chunks: [
          one({ content: null, role: 'assistant', reasoning_content: '' }),
          one({ content: null, reasoning_content: '先算一下' }),
          one({ content: null, ...ask(0, 'call_5e6b0a6c1f3d4a7e8b9c0d', '') }),
          ...inHalves(0, first, { id: '', type: 'function' }, { name: '' }),
          one({ content: null, ...ask(1, 'call_7a1f2e3d4c5b6a79808f1e', '') }),
          ...inHalves(1, second, { id: '', type: 'function' }, { name: '' }),
          one({ content: '', reasoning_content: null }, { finish_reason: 'tool_calls' }),
          counted,
        ],
        ids: ['call_5e6b0a6c1f3d4a7e8b9c0d', 'call_7a1f2e3d4c5b6a79808f1e'],
        back: '先算一下',
      },
      // Each call comes whole, its usage with the end.
      'glm-4.5-air': {
        chunks: [
          one({ role: 'assistant', reasoning_content: '先算一下' }),
          one({ role: 'assistant', content: '', ...ask(0, 'call_-8231168139794583938', first) }),
          one({ role: 'assistant', content: '', ...ask(1, 'call_-8231168139794583930', second) }),
          one({ role: 'assistant', content: '' }, { finish_reason: 'tool_calls' }, { usage }),
        ],
        ids: ['call_-8231168139794583938', 'call_-8231168139794583930'],
        back: '先算一下',
      },
      // Numbers are names with a place; what it counted stands in the choice.
      'kimi-k2.5': {
        chunks: [
          one({ role: 'assistant', content: '' }),
          one({ reasoning_content: '先算一下' }),
          one(ask(0, 'reckon:0', '')),
          ...inHalves(0, first),
          one(ask(1, 'reckon:1', '')),
          ...inHalves(1, second),
          one({}, { finish_reason: 'tool_calls', usage: { ...usage, cached_tokens: 20 } }),
        ],
        ids: ['reckon:0', 'reckon:1'],
        back: '先算一下',
      },
      // Each piece says its role and an empty text; it does not take back what it thought.
      'doubao-seed-1-6-250615': {
        chunks: [
          one({ role: 'assistant', content: '', reasoning_content: '先算一下' }),
          one({ role: 'assistant', content: '', ...ask(0, 'call_k3ftdpx2', '') }),
          ...halves(first).map((half) =>
            one({ role: 'assistant', content: '', ...grow(0, half, {}, { name: '' }) }),
          ),
          one({ role: 'assistant', content: '', ...ask(1, 'call_9wq1zzre', '') }),
          ...halves(second).map((half) =>
            one({ role: 'assistant', content: '', ...grow(1, half, {}, { name: '' }) }),
          ),
          one({ role: 'assistant', content: '' }, { finish_reason: 'tool_calls' }),
          counted,
        ],
        ids: ['call_k3ftdpx2', 'call_9wq1zzre'],
        back: '',
      },
    };
  })();

test.each(others)('a loop with %s, as its service says it', async (name) => {
  const { chunks, ids, back } = recorded[name];
  calling = chunks;
  const { message, sent } = await looped(name);
  expect(message, JSON.stringify(message.tools)).toMatchObject({ state: 'done', ai: '2 个结果' });
  expect(message.tools?.map(({ arguments: given, state }) => [given, state])).toEqual([
    [question('1+1'), 'done'],
    [question('2+2'), 'done'],
  ]);
  // Both rounds as the service counted them.
  expect([message.prompt_tokens, message.completion_tokens]).toEqual([100, 40]);
  const said = calledIn(sent);
  expect(said.tool_calls?.map(({ id }) => id)).toEqual(ids);
  expect(said.reasoning_content ?? '').toBe(back);
});
