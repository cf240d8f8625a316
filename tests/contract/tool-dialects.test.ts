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

beforeAll(async () => {
  model = await startScriptedModel((body) => {
    const results = resultsIn(body).length;
    return results === 0 ? { raw: calling } : { text: `${results} 个结果` };
  });
  server = await startServer({
    env: {
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: `${gemini},${ollama}`,
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
