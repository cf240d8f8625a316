import { isTooFew } from './chat-text.ts';

/** Families that think and show nothing of it. */
const known = /(?:^|\/)(?:o\d|gpt-5|gemini-(?:2\.5|[3-9]))/i;

/** Fields that ask for thinking. */
const asking = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'thinking_budget'];

const isOn = (value: unknown): boolean =>
  Boolean(value) && value !== 'none' && (value as { type?: unknown }).type !== 'disabled';

/**
 * Which models think without showing it: what that costs is told by the last word of a stream alone,
 * so that it has to be set aside before the first.
 */
export const createThinkers = () => {
  const seen = new Set<string>();
  return {
    /** Learns from an answer: it was counted as far more than what could be read of it. */
    learn(model: string, read: number, told: number): void {
      if (isTooFew(read, told)) seen.add(model);
    },
    has: (model: string, fields: Record<string, unknown>): boolean =>
      seen.has(model) || known.test(model) || asking.some((name) => isOn(fields[name])),
  };
};
export type Thinkers = ReturnType<typeof createThinkers>;
