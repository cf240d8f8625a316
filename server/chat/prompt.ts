import { limits } from '../../contract/limits.ts';
import type { Settings } from '../../contract/auth.ts';
import { picturesOf, textOf, type ChatMessage } from '../engines/chat-engine.ts';

export interface Pair {
  human: string;
  ai: string;
}

/** What a reply is made with, in the specification's whole numbers; from the call or the settings. */
export type Generation = Pick<
  Settings,
  'temperature' | 'presence_penalty' | 'frequency_penalty' | 'max_history'
>;

export const historyLength = (asked: Generation, saved: Settings): number =>
  asked.max_history ?? saved.max_history ?? limits.defaults.max_history;

/** The numbers as models take them: temperature 0.1–2, penalties 0–2. */
export const sampling = (asked: Generation, saved: Settings) => {
  const penalty = (name: 'presence_penalty' | 'frequency_penalty') =>
    (asked[name] ?? saved[name] ?? limits.defaults.penalty) / 5;
  return {
    temperature: (asked.temperature ?? saved.temperature ?? limits.defaults.temperature) / 10,
    presencePenalty: penalty('presence_penalty'),
    frequencyPenalty: penalty('frequency_penalty'),
  };
};

/**
 * The question behind the newest earlier pairs that fit into `maxPrompt` UTF-16 units with it.
 * @param pairs newest first
 */
export const buildMessages = (
  pairs: readonly Pair[],
  question: string,
  maxPrompt: number,
): ChatMessage[] => {
  const messages: ChatMessage[] = [{ role: 'user', content: question }];
  let room = maxPrompt - question.length;
  for (const { human, ai } of pairs) {
    room -= human.length + ai.length;
    if (room < 0) break;
    messages.unshift({ role: 'user', content: human }, { role: 'assistant', content: ai });
  }
  return messages;
};

/** Tokens that a message costs beside its text. */
const tokensAround = 4;

export const promptTokens = (
  messages: readonly ChatMessage[],
  count: (text: string) => number,
): number =>
  messages.reduce(
    (sum, { content }) =>
      picturesOf(content).reduce(
        (tokens, { image_url }) => tokens + limits.imageTokens[image_url.detail],
        sum + count(textOf(content)) + tokensAround,
      ),
    0,
  );
