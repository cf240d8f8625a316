import type { thinkingChoices, thinkingWords } from '#contract/kinds.ts';

export type ThinkingChoice = (typeof thinkingChoices)[number];

/**
 * In which words a model is told so: `effort` by OpenAI's reasoning_effort, `type` by `thinking.type`,
 * `switch` by Qwen's enable_thinking and thinking_budget, `template` by the arguments of a chat
 * template, as vLLM and llama.cpp have them.
 */
export type ThinkingWords = (typeof thinkingWords)[number];

/** The longest thinking that is asked for, and set aside before a deep answer, tokens. */
export const deepTokens = 16_384;

/**
 * Models that can think long or little, by their names; the first that fits counts. Those that always
 * think, or never, have no choice.
 */
const families: readonly [RegExp, ThinkingWords | null][] = [
  [/embed|rerank|(?:^|[-_/])(?:instruct|coder|chat-latest|thinking|base)(?=$|[-_:.\d])/i, null],
  [/(?:^|\/)(?:o[134](?:-mini|-pro)?(?=$|-\d)|gpt-5(?!\S*-chat)|gpt-oss)/i, 'effort'],
  [/(?:^|\/)(?:gemini-(?:2\.5|[3-9])|grok-3-mini)(?!\S*-(?:image|tts|live))/i, 'effort'],
  [/(?:^|\/|\.)claude-(?:3-7|(?:[a-z]+-)[4-9])/i, 'effort'],
  [/(?:^|\/)deepseek-(?:chat|v3\.[1-9]|v[4-9])/i, 'type'],
  [/(?:^|\/)(?:glm-(?:4\.[5-9]|[5-9])|kimi-k(?:2\.[5-9]|[3-9])|mimo-v)/i, 'type'],
  [/(?:^|\/)doubao-seed-/i, 'type'],
  [/(?:^|\/)qwen-?(?:3|plus|turbo|flash|max)/i, 'switch'],
];

/** Null: nothing can be chosen, or nobody knows how. */
export const thinkingByName = (name: string): ThinkingWords | null =>
  families.find(([pattern]) => pattern.test(name))?.[1] ?? null;
