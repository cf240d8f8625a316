interface Piece {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: unknown;
  function_call?: unknown;
}

const worded = (value: unknown): string => (typeof value === 'string' ? value : '');

const called = (call: unknown): string => {
  const { name, arguments: given } = (call ?? {}) as Record<string, unknown>;
  return worded(name) + worded(given);
};

/** Everything that costs tokens in a message, or a piece of one. */
export const producedIn = (piece: unknown): string => {
  const { content, refusal, reasoning_content, reasoning, tool_calls, function_call } = (piece ??
    {}) as Piece;
  let text = (worded(reasoning_content) || worded(reasoning)) + worded(content) + worded(refusal);
  if (Array.isArray(content)) text += JSON.stringify(content);
  if (Array.isArray(tool_calls))
    for (const call of tool_calls as { function?: unknown }[]) text += called(call?.function);
  return text + called(function_call);
};

/** The same of all choices of an answer (`message`), or of an event (`delta`). */
export const producedBy = (answer: Record<string, unknown>): string => {
  const { choices } = answer;
  if (!Array.isArray(choices)) return '';
  return (choices as { message?: unknown; delta?: unknown }[])
    .map((choice) => producedIn(choice?.message ?? choice?.delta))
    .join('');
};
