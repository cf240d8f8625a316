import { limits } from '../../../contract/limits.ts';
import { estimateTokens } from '../../../contract/price.ts';
import type { ChatBody } from '../../engines/chat-relay.ts';

/** Tokens that a message costs beside its text, and a part that is neither text nor image. */
const around = 4;
const otherPart = 500;

interface Asked {
  texts: string[];
  /** Tokens of what is no text. */
  beside: number;
}

const addPart = (part: Record<string, unknown>, asked: Asked): void => {
  const { type, text, image_url: image } = part;
  if (typeof text === 'string') asked.texts.push(text);
  else if (type === 'image_url') {
    const { detail } = (image ?? {}) as { detail?: unknown };
    asked.beside += detail === 'low' ? limits.imageTokens.low : limits.imageTokens.high;
  } else asked.beside += otherPart;
};

/** What of a request costs tokens: its texts, and how many the rest takes. */
export const askedOf = (body: ChatBody): Asked => {
  const asked: Asked = { texts: [], beside: 0 };
  for (const { content, tool_calls: calls, function_call: call } of body.messages) {
    asked.beside += around;
    if (typeof content === 'string') asked.texts.push(content);
    else if (Array.isArray(content))
      for (const part of content as unknown[])
        if (typeof part === 'object' && part !== null)
          addPart(part as Record<string, unknown>, asked);
    for (const each of [calls, call]) if (each) asked.texts.push(JSON.stringify(each));
  }
  for (const name of ['tools', 'functions', 'response_format']) {
    const value = body[name];
    if (value !== undefined && value !== null) asked.texts.push(JSON.stringify(value));
  }
  return asked;
};

export const roughPrompt = (asked: Asked): number =>
  asked.texts.reduce((sum, text) => sum + estimateTokens(text), asked.beside);

interface Piece {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: unknown;
}

const worded = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Everything that costs tokens in a message, or a piece of one. */
export const producedIn = (piece: unknown): string => {
  const { content, refusal, reasoning_content, reasoning, tool_calls } = (piece ?? {}) as Piece;
  let text = (worded(reasoning_content) || worded(reasoning)) + worded(content) + worded(refusal);
  if (Array.isArray(content)) text += JSON.stringify(content);
  if (Array.isArray(tool_calls))
    for (const { function: called } of tool_calls as { function?: Record<string, unknown> }[])
      text += worded(called?.['name']) + worded(called?.['arguments']);
  return text;
};

export interface Counted {
  promptTokens: number;
  completionTokens: number;
}

const sensible = (count: unknown): count is number =>
  Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) <= 10_000_000;

/** The service's own count; null: it gives none. */
export const usageIn = (answer: Record<string, unknown>): Counted | null => {
  const usage = answer['usage'] as
    | { prompt_tokens?: unknown; completion_tokens?: unknown }
    | null
    | undefined;
  const { prompt_tokens: asked, completion_tokens: said } = usage ?? {};
  return sensible(asked) && sensible(said) ? { promptTokens: asked, completionTokens: said } : null;
};
