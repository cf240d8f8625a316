import { setTimeout as wait } from 'node:timers/promises';
import { type Quote, textOf } from '#common/chat-message.ts';
import { graphemesOf } from '#common/graphemes.ts';
import type { ChatEngine, ChatRequest } from './chat-engine.ts';
import { answer, askedOfFiles, calledFor, type Handbook } from '#packages/assistant/answer.ts';

/** Letters of one part. */
const partLetters = 6;

/** Cuts a text into parts of a few letters, never through one that is made of several code points. */
function* pieces(text: string): Generator<string> {
  let piece = '';
  let count = 0;
  for (const letter of graphemesOf(text)) {
    piece += letter;
    count += 1;
    if (count < partLetters) continue;
    yield piece;
    piece = '';
    count = 0;
  }
  if (piece !== '') yield piece;
}

/** The call of a tool that the last question is for, where it may call that one. */
const callOf = ({ messages, tools = [] }: ChatRequest) => {
  if (messages.at(-1)?.role !== 'user') return null;
  const call = calledFor(messages, new Date());
  return call && tools.some(({ name }) => name === call.name) ? call : null;
};

/** What tools gave is the answer. */
const gave = (messages: ChatRequest['messages']): string | null => {
  const last = messages.map(({ role }) => role !== 'tool').lastIndexOf(true);
  const results = messages.slice(last + 1);
  return results.length === 0 ? null : results.map(({ content }) => textOf(content)).join('\n\n');
};

/** Looks files through for the sentences that answer a question; null: it could not. */
export type QuoteFiles = (
  question: string,
  files: readonly { name: string; text: string }[],
  signal: AbortSignal,
) => Promise<readonly Quote[] | null>;

/**
 * 内置助手: answers without any outside service. It is no neural model and says so; it costs nothing,
 * so its usage is zero.
 * @param deps.rate letters a second, as fast as one reads along; 0: all at once
 */
export const createBuiltInEngine = (deps: {
  help: () => Handbook;
  quoteFiles: QuoteFiles;
  rate: number;
}): ChatEngine => ({
  async write(request, take) {
    const { messages, signal } = request;
    signal.throwIfAborted();
    const call = callOf(request);
    if (call) {
      const given = JSON.stringify(call.arguments);
      take([
        { kind: 'call', index: 0, id: 'call_0', name: call.name, arguments: given },
        { kind: 'usage', promptTokens: 0, completionTokens: 0 },
      ]);
      return;
    }
    const given = gave(messages);
    const now = new Date();
    const about = given === null ? askedOfFiles(messages, now) : null;
    const quotes = about && (await deps.quoteFiles(about.question, about.files, signal));
    signal.throwIfAborted();
    const text = given ?? answer(messages, { help: deps.help(), now, quotes });
    const pauseMs = deps.rate > 0 ? (partLetters / deps.rate) * 1000 : 0;
    let isFirst = true;
    for (const piece of pieces(text)) {
      if (!isFirst && pauseMs > 0) {
        try {
          await wait(pauseMs, undefined, { signal });
        } catch {
          throw signal.reason;
        }
      }
      isFirst = false;
      take([{ kind: 'text', text: piece }]);
    }
    take([{ kind: 'usage', promptTokens: 0, completionTokens: 0 }]);
  },
});
