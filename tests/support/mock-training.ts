import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pairOf } from './meaning.ts';

/** What was asked of the services, and how they shall behave. */
export interface MockTraining {
  url: string;
  /** Texts that were embedded. */
  embedded: string[];
  /** Sentences that were translated, every time they were. */
  translated: string[];
  /** Requests for an answer of a chat model. */
  asked: {
    messages: { role: string; content: string }[];
    embedding?: unknown;
    stream?: boolean;
  }[];
  /** Calls of Replicate's, as `METHOD path`. */
  calls: string[];
  /** How long each answer takes, ms. */
  slowMs: number;
  /** Statuses of the next answers with vectors; 0: one that is well. */
  embedStatus: number[];
  /** Words that its reranker puts first; empty: it answers nothing. */
  prefers: string;
  /** How often a training of Replicate's is asked for until it is done. */
  rounds: number;
  stop: () => Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

/**
 * Letters that say what a text is about: alike words give alike numbers. What models are measured
 * with it knows.
 */
const vectorOf = (text: string): number[] => {
  const numbers = Array.from({ length: 16 }, () => 0.01);
  const pair = pairOf(text);
  if (pair !== undefined) return numbers.with(pair, 1);
  for (const letter of text) {
    const at = (letter.codePointAt(0) ?? 0) % 16;
    numbers[at] = (numbers[at] ?? 0) + 1;
  }
  return numbers;
};

/**
 * One server that speaks OpenAI's embeddings and chat completions (it translates by putting `译：`
 * before each numbered line) and Replicate's files and trainings, from their public documents.
 */
export const startMockTraining = async (): Promise<MockTraining> => {
  const state: MockTraining = {
    url: '',
    embedded: [],
    translated: [],
    asked: [],
    calls: [],
    slowMs: 0,
    embedStatus: [],
    prefers: '',
    rounds: 2,
    stop: async () => {},
  };
  const trainings = new Map<string, number>();
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '' } = request;
      const body = await bodyOf(request);
      const json = (value: unknown, status = 200) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      if (state.slowMs > 0) await sleep(state.slowMs);
      if (url === '/v1/models')
        return json({
          data: [
            { id: 'gpt-4o-mini' },
            { id: 'text-embedding-3-small' },
            { id: 'bge-reranker-v2-m3' },
          ],
        });
      if (url === '/v1/rerank' && state.prefers !== '') {
        const { documents } = JSON.parse(body.toString()) as { documents: string[] };
        const results = documents.map((text, index) => ({
          index,
          relevance_score: text.includes(state.prefers) ? 0.9 : 0.1,
        }));
        return json({ results });
      }
      if (url === '/v1/embeddings') {
        const { input } = JSON.parse(body.toString()) as { input: string[] };
        const status = state.embedStatus.shift() ?? 0;
        if (status > 0) return json({ error: { message: 'not now' } }, status);
        state.embedded.push(...input);
        return json({
          data: input.map((text, index) => ({ index, embedding: vectorOf(text) })),
          usage: { total_tokens: input.join('').length },
        });
      }
      if (url === '/v1/chat/completions') {
        const question = JSON.parse(body.toString()) as MockTraining['asked'][number];
        state.asked.push(question);
        const { messages } = question;
        const asked = messages.at(-1)?.content ?? '';
        const lines = asked.split('\n').filter((line) => /^\[\d+\]/.test(line));
        state.translated.push(...lines.map((line) => line.replace(/^\[\d+\] /, '')));
        const said = lines.map((line) => line.replace(/^(\[\d+\]) /, '$1 译：')).join('\n');
        if (!question.stream)
          return json({
            id: 'whole',
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: said || asked },
                finish_reason: 'stop',
              },
            ],
            usage: { prompt_tokens: 100, completion_tokens: 50 },
          });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const chunk = (delta: object, finish: string | null) =>
          response.write(
            `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
          );
        chunk({ content: said || asked }, null);
        chunk({}, 'stop');
        response.write(
          `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 50 } })}\n\n`,
        );
        response.end('data: [DONE]\n\n');
        return undefined;
      }
      if (!url.startsWith('/replicate/')) return json({ error: 'unknown' }, 404);
      const path = url.slice('/replicate/'.length);
      state.calls.push(`${method} ${path}`);
      if (request.headers.authorization !== 'Bearer r8_test') return json({ detail: 'no' }, 401);
      if (path === 'account') return json({ type: 'user', username: 'me' });
      if (method === 'POST' && path === 'files')
        return json({ id: 'f1', urls: { get: `${state.url}/replicate/files/f1` } }, 201);
      if (method === 'POST' && /^models\/[^/]+\/[^/]+\/versions\/[^/]+\/trainings$/.test(path)) {
        const id = randomUUID();
        trainings.set(id, 0);
        return json({ id, status: 'starting' }, 201);
      }
      const [, id = '', act] = /^trainings\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
      if (!trainings.has(id)) return json({ detail: 'Not found' }, 404);
      if (act) {
        trainings.set(id, -1);
        return json({ id, status: 'canceled' });
      }
      const times = (trainings.get(id) ?? 0) + 1;
      trainings.set(id, times);
      if (times < state.rounds)
        return json({ id, status: 'processing', logs: ' 40%|████ | 40/100 [00:01' });
      return json({ id, status: 'succeeded', logs: '100%|', output: { version: 'me/style:abc' } });
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.stop = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return state;
};
