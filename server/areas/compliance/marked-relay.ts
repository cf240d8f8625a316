import { madeByAi } from '#contract/made-by-ai.ts';
import type { ChatBody, ChatRelay, RelayEvent } from '#server/engines/chat-relay.ts';

const ending = `\n\n${madeByAi}`;

interface Choice {
  index?: number;
  finish_reason?: unknown;
  message?: { content?: unknown; tool_calls?: unknown };
  delta?: { content?: unknown };
}

const choicesOf = (answer: Record<string, unknown>): Choice[] =>
  Array.isArray(answer['choices']) ? (answer['choices'] as Choice[]) : [];

/** What is to be JSON would be none with words behind it. */
const takesWords = ({ response_format: format }: ChatBody): boolean => {
  const { type } = (format ?? {}) as { type?: unknown };
  return typeof type !== 'string' || !type.startsWith('json');
};

const hasText = (content: unknown): content is string =>
  typeof content === 'string' && content.trim() !== '';

const isDone = ({ finish_reason: why }: Choice): boolean => why === 'stop' || why === 'length';

/** What says, in a stream, that a model wrote it: before the event by which a choice ends. */
const markedEvents = (event: RelayEvent, spoken: Set<number>): RelayEvent[] => {
  const ended: number[] = [];
  for (const choice of choicesOf(event.chunk)) {
    const index = choice.index ?? 0;
    if (hasText(choice.delta?.content)) spoken.add(index);
    if (isDone(choice) && spoken.delete(index)) ended.push(index);
  }
  if (ended.length === 0) return [event];
  const { usage: _usage, ...top } = event.chunk;
  const said = (choices: object[]): RelayEvent => {
    const chunk = { ...top, choices };
    return { data: JSON.stringify(chunk), chunk };
  };
  const words = ended.map((index) => ({
    index,
    delta: { content: ending },
    finish_reason: null,
  }));
  // Some services say the last words and the end in one event.
  const last = choicesOf(event.chunk).filter(({ delta }) => hasText(delta?.content));
  const before =
    last.length > 0 ? [said(last.map((each) => ({ ...each, finish_reason: null })))] : [];
  const chunk = {
    ...event.chunk,
    choices: choicesOf(event.chunk).map((each) =>
      hasText(each.delta?.content) ? { ...each, delta: {} } : each,
    ),
  };
  return [...before, said(words), { data: JSON.stringify(chunk), chunk }];
};

/** A relay whose answers end with the words that a model wrote them. */
export const markedRelay = (relay: ChatRelay): ChatRelay => ({
  ...relay,
  complete: async (body, signal) => {
    const answer = await relay.complete(body, signal);
    if (!takesWords(body)) return answer;
    const choices = choicesOf(answer).map((each) =>
      isDone(each) && hasText(each.message?.content)
        ? { ...each, message: { ...each.message, content: each.message.content + ending } }
        : each,
    );
    return { ...answer, choices };
  },
  stream: (body, signal, take) => {
    if (!takesWords(body)) return relay.stream(body, signal, take);
    const spoken = new Set<number>();
    return relay.stream(body, signal, (events) =>
      take(events.flatMap((event) => markedEvents(event, spoken))),
    );
  },
});
