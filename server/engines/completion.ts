import { randomUUID } from 'node:crypto';

/** What of a chat completion, in OpenAI's words, is the same whatever service gave it. */

type Json = Record<string, unknown>;

/** @param id the service's own, where it is a text */
export const headOf = (id: unknown, model: string) => ({
  id: typeof id === 'string' ? id : `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  created: Math.floor(Date.now() / 1000),
  model,
});

/** The message of a whole answer. @param signed what was thought, as its service signed it */
export const answerMessage = ({
  text,
  thought,
  signed = [],
  calls,
}: {
  text: string;
  thought: string;
  signed?: readonly unknown[];
  calls: readonly unknown[];
}): Json => ({
  role: 'assistant',
  content: text === '' && calls.length > 0 ? null : text,
  refusal: null,
  ...(thought === '' ? {} : { reasoning_content: thought }),
  ...(signed.length > 0 ? { thinking_blocks: signed } : {}),
  ...(calls.length > 0 ? { tool_calls: calls } : {}),
});
