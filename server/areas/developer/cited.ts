import type { Source, StoredSource } from '#contract/embedding.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import { Citations } from '../chat/citations.ts';
import type { Style } from './chat-stream.ts';

type Json = Record<string, unknown>;
interface Choice extends Json {
  delta?: Json;
  message?: Json;
  finish_reason?: unknown;
}

/** A source as programs are told it, with its text: they have no page to open it on. */
export const toldSource = ({
  n,
  title,
  place,
  base,
  text,
}: StoredSource): Source & {
  text: string;
} => ({ n, title, place, base, text });

type Told = ReturnType<typeof toldSource>;

/** An answer with its sources; numbers that name none are taken out of its words. */
export const citedAnswer = (answer: Json, sources: readonly Told[]): Json => {
  const [first, ...more] = (answer['choices'] ?? []) as Choice[];
  const content = first?.message?.['content'];
  if (typeof content !== 'string') return { ...answer, sources };
  const citations = new Citations(sources.length);
  const said = citations.take(content) + citations.end();
  const choice = { ...first, message: { ...first?.message, content: said } };
  return { ...answer, choices: [choice, ...more], sources };
};

/**
 * The same of a stream.
 * @param asFrame the sources are an event of their own, before the first; else they go with it
 */
export const citedStyle = (
  style: Style,
  sources: readonly Told[],
  { asFrame }: { asFrame: boolean },
): Style => {
  const citations = new Citations(sources.length);
  let isFirst = true;
  let last: Json = {};
  const put = (chunk: Json) => style.write({ data: JSON.stringify(chunk), chunk });
  const write = ({ data, chunk }: RelayEvent): string => {
    const frame = isFirst && asFrame ? `data: ${JSON.stringify({ sources })}\n\n` : '';
    const added = isFirst && !asFrame ? { sources } : {};
    isFirst = false;
    last = chunk;
    const [choice, ...more] = (chunk['choices'] ?? []) as Choice[];
    const content = choice?.delta?.['content'];
    const came = typeof content === 'string' ? content : '';
    const ends = typeof choice?.finish_reason === 'string';
    const said = citations.take(came) + (ends ? citations.end() : '');
    if (said === came && !('sources' in added)) return frame + style.write({ data, chunk });
    const choices = choice
      ? [
          { ...choice, delta: { ...choice.delta, ...(said !== came && { content: said }) } },
          ...more,
        ]
      : more;
    return frame + put({ ...chunk, choices, ...added });
  };
  return {
    ...style,
    write,
    end: async (counted) => {
      // A service that names no reason for its end left what was held back.
      const left = citations.end();
      const choices = [{ index: 0, delta: { content: left }, finish_reason: null }];
      const { usage: _usage, ...chunk } = last;
      return (left === '' ? '' : put({ ...chunk, choices })) + (await style.end(counted));
    },
  };
};
