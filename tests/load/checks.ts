import { setImmediate } from 'node:timers/promises';
import type { ChatEngine } from '#server/engines/chat-engine.ts';
import { guarded } from '#server/areas/moderation/stream-guard.ts';
import { createWordFinder } from '#server/areas/moderation/word-finder.ts';
import { startScriptedModel } from '#tests/support/scripted-model.ts';
import { TestClient } from '#tests/support/client.ts';
import { ADMIN_PASSWORD, startServer } from '#tests/support/server.ts';

/**
 * `ANSWERS=400 npx tsx tests/load/checks.ts` after a build: what the checks by words add to an answer
 * of some 900 letters with 2,000 blocked words, the most there may be, and how much of an answer that turns bad is seen.
 */
const answers = Number(process.env['ANSWERS'] ?? 400);
const turns = 10;
const sentence = '这是一段没有问题的话，讲的是怎样种一棵石榴树。';
const bad = '赌博网站';
const before = sentence.repeat(10);

const at = (part: number, all: number[]) =>
  [...all].sort((a, b) => a - b)[Math.floor((all.length - 1) * part)] ?? 0;

/**
 * What the checks add within the process, without the net and the database that both share: the same
 * answer in pieces of some letters, as it comes and guarded, by turns.
 */
const alone = async () => {
  const words = Array.from({ length: 2_000 }, (_, n) => `不许说的第${n}个词`);
  const find = createWordFinder([bad, ...words]);
  const safety = {
    manner: () => Promise.resolve('words' as const),
    checkText: (_way: 'in' | 'out', text: string) =>
      Promise.resolve({
        level: find(text) === null ? ('pass' as const) : ('refuse' as const),
        reason: '',
      }),
  };
  const pieces = sentence.repeat(40).match(/.{1,4}/g) ?? [];
  const engine: ChatEngine = {
    write: async (_request, take) => {
      for (const text of pieces) {
        take([{ kind: 'text', text }]);
        await setImmediate();
      }
    },
  };
  const request = {
    model: 'm',
    messages: [{ role: 'user' as const, content: '怎样种一棵石榴树' }],
    temperature: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    maxTokens: 4_000,
    signal: new AbortController().signal,
  };
  const times: [number[], number[]] = [[], []];
  for (let n = 0; n < answers * 10; n += 1) {
    const checked = n % 2 === 1;
    const writing = checked ? guarded(engine, safety, { userId: 1, keep: true }) : engine;
    const begun = performance.now();
    await writing.write(request, () => {});
    times[checked ? 1 : 0].push(performance.now() - begun);
  }
  return times;
};
const [bare, guardedTimes] = await alone();

const model = await startScriptedModel(({ messages }) => ({
  text: JSON.stringify(messages.at(-1)).includes('转坏')
    ? `${before}${bad}${sentence.repeat(30)}`
    : sentence.repeat(40),
}));
const server = await startServer({
  embedded: true,
  env: {
    OPENAI_BASE_URL: model.baseURL,
    OPENAI_API_KEY: 'k',
    OPENAI_MODELS: 'gpt-4o-mini',
    SIGNUP_TOKENS: '100000000',
  },
});
try {
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  // Nobody begins more than some sessions a month for nothing.
  let person = await TestClient.register(server.baseURL);
  await manager.call('addBlockedWords', { words: [bad] });
  for (let part = 0; part < 4; part += 1)
    await manager.call('addBlockedWords', {
      words: Array.from({ length: 499 }, (_, at) => `不许说的第${part * 499 + at}个词`),
    });
  const answer = async (msg: string): Promise<{ ms: number; text: string }> => {
    const { uuid } = await person.call('newSession', { type: 0, model: 'gpt-4o-mini' });
    const begun = performance.now();
    const { id } = await person.call('sendMessage', { session_id: uuid, msg });
    const said = await person.read(uuid, id);
    const ms = performance.now() - begun;
    const text = said
      .filter(({ data }) => data !== '[DONE]')
      .map(({ data }) => JSON.parse(data) as unknown)
      .filter((each) => typeof each === 'string')
      .join('');
    return { ms, text };
  };
  // By turns, so that whatever else the machine does falls on both.
  const [plain, checked]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns * 2; turn += 1) {
    const on = turn % 2 === 1;
    await manager.call('saveSafety', { text_in: on ? 1 : 0, text_out: on ? 1 : 0, words: 1 });
    person = await TestClient.register(server.baseURL);
    await answer('怎样种一棵石榴树');
    for (let n = 0; n < answers / turns; n += 1)
      (on ? checked : plain).push((await answer('怎样种一棵石榴树')).ms);
  }
  const [day] = (await manager.call('safetyState', {})).days.filter(({ by }) => by === 'words');
  // Letters of the bad window itself that stand before what is bad are not seen either.
  const seen: number[] = [];
  person = await TestClient.register(server.baseURL);
  for (let n = 0; n < Math.min(100, answers / 4); n += 1) {
    const { text } = await answer('请转坏');
    seen.push(text.includes(bad) || !before.startsWith(text) ? NaN : before.length - text.length);
  }
  console.table({
    ...Object.fromEntries(
      [0.5, 0.95].map((part) => [
        `ms that checks alone add to an answer, p${part * 100}`,
        `${(at(part, guardedTimes) - at(part, bare)).toFixed(3)} (floor ${at(part, bare).toFixed(3)})`,
      ]),
    ),
    'checks per answer': ((day?.checks ?? 0) / (answers + turns)).toFixed(1),
    'ms within checks per answer, mean': (
      ((day?.mean_ms ?? 0) * (day?.checks ?? 0)) /
      (answers + turns)
    ).toFixed(3),
    ...Object.fromEntries(
      [0.5, 0.95].flatMap((part) => [
        [`ms of an answer without (the floor), p${part * 100}`, at(part, plain).toFixed(2)],
        [`ms of an answer with, p${part * 100}`, at(part, checked).toFixed(2)],
        [`ms more, p${part * 100}`, (at(part, checked) - at(part, plain)).toFixed(2)],
      ]),
    ),
    'bad answers': seen.length,
    'of those with something bad seen': seen.filter(Number.isNaN).length,
    'good letters held back with it, most': Math.max(...seen),
  });
} finally {
  await server.stop();
  await model.close();
}
process.exit(0);
