import { deepTokens, type ThinkingChoice, type ThinkingWords } from '#common/thinking-models.ts';

/** What is asked of a model's thinking; of `auto` nothing is said at all. */
export interface AskedThinking {
  choice: Exclude<ThinkingChoice, 'auto'>;
  words: ThinkingWords;
}

type Fields = Record<string, unknown>;

/** All fields that say something of thinking; one that a service refuses is left out. */
export const thinkingFields = [
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'chat_template_kwargs',
] as const;

/** The least effort that a model of OpenAI's knows: none, minimal and low came one after the other. */
const leastEffort = (model: string): string => {
  if (/gpt-5(?:\.\d)?-(?:codex|pro)/i.test(model)) return 'low';
  if (/gpt-5\.\d/i.test(model)) return 'none';
  return /gpt-5/i.test(model) ? 'minimal' : 'low';
};

/** In the words of services that speak OpenAI's chat completions. */
const openAiFields = ({ choice, words }: AskedThinking, model: string, url: URL): Fields => {
  const deep = choice === 'deep';
  // Whose word counts for all models that it has: OpenRouter, and Ollama, which knows no other.
  if (/(?:^|\.)openrouter\.ai$/.test(url.hostname))
    return {
      reasoning: deep
        ? { effort: 'high' }
        : words === 'effort'
          ? { effort: 'low' }
          : { enabled: false },
    };
  if (url.port === '11434' || url.hostname === 'ollama.com')
    return { reasoning_effort: deep ? 'high' : /gpt-oss/i.test(model) ? 'low' : 'none' };
  if (words === 'type') return { thinking: { type: deep ? 'enabled' : 'disabled' } };
  if (words === 'template') return { chat_template_kwargs: { enable_thinking: deep } };
  if (words === 'switch')
    return deep
      ? { enable_thinking: true, thinking_budget: deepTokens }
      : { enable_thinking: false };
  return { reasoning_effort: deep ? 'high' : leastEffort(model) };
};

/**
 * The fields that ask for it.
 * @param fixed fields that a manager chose for all requests, which nobody changes
 */
export const fieldsOfThinking = (
  asked: AskedThinking | undefined,
  model: string,
  url: URL,
  fixed: Fields = {},
): Fields => {
  if (!asked || thinkingFields.some((name) => name in fixed)) return {};
  return openAiFields(asked, model, url);
};

/** Models of Anthropic's that decide by themselves how much they think, and are told an effort. */
const adaptive = /claude-[a-z]+-(?:4-[6-9]|[5-9])/i;

/** For dialects, in the words that a chat's body has; they put it into their own. */
export const dialectThinking = (asked: AskedThinking | undefined, model: string): Fields => {
  if (!asked) return {};
  const gemini = /gemini/i.test(model);
  if (asked.choice === 'fast')
    return gemini ? { reasoning_effort: 'low' } : { thinking: { type: 'disabled' } };
  return adaptive.test(model)
    ? { thinking: { type: 'adaptive' }, reasoning_effort: 'high' }
    : { thinking: { type: 'enabled', budget_tokens: deepTokens } };
};

/** How long an answer may be where its thinking counts as part of it; undefined: as the service has it. */
export const lengthWithThinking = (
  maxTokens: number | undefined,
  asked: AskedThinking | undefined,
): number | undefined =>
  maxTokens !== undefined && asked?.choice === 'deep' && asked.words !== 'switch'
    ? maxTokens + deepTokens
    : maxTokens;
