import { request } from 'undici';
import * as z from 'zod/mini';

/** Ollama's own words over HTTP, beside those of OpenAI: what it has, and how it brings more. */

/** One that does not answer within this is not there, ms. */
const patience = 1_500;
/** Nothing comes for so long: the pull counts as broken, ms. */
const silenceMs = 120_000;
/** Of a line that it answers with; longer ones are none of its. */
const mostLine = 10_000;

const tags = z.object({ models: z.array(z.object({ name: z.string() })) });
const line = z.object({
  status: z.optional(z.string()),
  error: z.optional(z.string()),
  total: z.optional(z.number()),
  completed: z.optional(z.number()),
});

const strange = '答复看不懂，不像 Ollama';
const brokenOff = '中途断了，再拉一次会接着来';

/** Its message is for people. */
export class PullFailed extends Error {}

/** Where its own calls are, of the address that talks as OpenAI does. */
const originOf = (baseUrl: string): string => new URL(baseUrl).origin;

/** Names of the models that it has; null: what listens there is no Ollama. */
export const ollamaModels = async (baseUrl: string): Promise<string[] | null> => {
  try {
    const answer = await fetch(`${originOf(baseUrl)}/api/tags`, {
      signal: AbortSignal.timeout(patience),
    });
    const told = z.safeParse(tags, await answer.json());
    return answer.ok && told.success ? told.data.models.map(({ name }) => name) : null;
  } catch {
    return null;
  }
};

const readLine = (text: string): z.output<typeof line> => {
  try {
    const told = text.length <= mostLine ? z.safeParse(line, JSON.parse(text)) : null;
    if (told?.success) return told.data;
  } catch {
    // Said below.
  }
  throw new PullFailed(strange);
};

/** The lines of an answer as they come. @throws PullFailed where one has no end */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > mostLine) throw new PullFailed(strange);
    for (const part of parts) if (part.trim() !== '') yield part;
  }
  if (rest.trim() !== '') yield rest;
}

/**
 * Has it bring a model; what it had of it before is not brought again.
 * @param progress bytes of the layer that comes, and of all of it; 0 while it says none
 * @throws PullFailed
 */
export const pullOllama = async (
  { baseUrl, model, signal }: { baseUrl: string; model: string; signal: AbortSignal },
  progress: (now: { status: string; bytes: number; total: number }) => void,
): Promise<void> => {
  try {
    const answer = await request(`${originOf(baseUrl)}/api/pull`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true }),
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      signal,
    });
    let done = false;
    for await (const text of linesOf(answer.body)) {
      const { status = '', error, total = 0, completed = 0 } = readLine(text);
      if (error !== undefined) throw new PullFailed(error.slice(0, 300));
      done = status === 'success';
      progress({ status, bytes: completed, total });
    }
    if (answer.statusCode !== 200) throw new PullFailed(`答复 ${answer.statusCode}`);
    if (!done) throw new PullFailed(brokenOff);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PullFailed) throw error;
    throw new PullFailed(brokenOff);
  }
};
