import { sessionTypes } from '#contract/kinds.ts';
import { readQuestion } from '#src/platform/question.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';

/** A place where words were found. */
export interface Hit {
  history_id: number;
  part: 'human' | 'ai';
  snippet: string;
  created_at: string;
}

const snippetLength = 80;

const snippetAround = (text: string, at: number, length: number): string => {
  const from = Math.max(0, at - Math.floor((snippetLength - length) / 2));
  const part = text.slice(from, from + snippetLength).replace(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${part}${from + snippetLength < text.length ? '…' : ''}`;
};

/** Messages of a thread, as far as they are here, that hold the words, newest first. */
export const searchThread = (thread: Thread, words: string): Hit[] => {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return [];
  return [...thread.store.all()].reverse().flatMap((message) =>
    (['human', 'ai'] as const).flatMap((part) => {
      // The reply of an image is its data.
      if (
        part === 'ai' &&
        (message.type === sessionTypes.image || message.type === sessionTypes.video)
      )
        return [];
      const text = part === 'ai' ? message.ai : readQuestion(message).text;
      const at = text.toLowerCase().indexOf(wanted);
      if (at < 0) return [];
      const snippet = snippetAround(text, at, wanted.length);
      return [{ history_id: message.id, part, snippet, created_at: message.created_at }];
    }),
  );
};
