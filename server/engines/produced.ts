type Json = Record<string, unknown>;

const worded = (value: unknown): string => (typeof value === 'string' ? value : '');

const called = (call: unknown): string => {
  const { name, arguments: given } = (call ?? {}) as Json;
  return worded(name) + worded(given);
};

/** Everything that costs tokens in a message, or a piece of one. */
export const producedIn = (piece: unknown): string => {
  const { content, refusal, reasoning_content, reasoning, tool_calls, function_call } = (piece ??
    {}) as Json;
  let text = (worded(reasoning_content) || worded(reasoning)) + worded(content) + worded(refusal);
  if (Array.isArray(content) && content.length > 0) text += JSON.stringify(content);
  if (Array.isArray(tool_calls))
    for (const call of tool_calls as { function?: unknown }[]) text += called(call?.function);
  return text + called(function_call);
};

const told = [
  'role',
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'tool_calls',
  'function_call',
];
/** What some services call a thought; where it stands in the field above, too, it is the same. */
const thoughts = ['thinking', 'reasoning_details'];

/** Letters of a picture's or a sound's base64 that make about one token. */
const lettersOfToken = 1000;
const isBytes = (text: string): boolean =>
  text.length > lettersOfToken && /^(data:[^,]{0,100},)?[\w+/=-]+$/.test(text);

const textsIn = (value: unknown): string => {
  if (typeof value === 'string')
    return isBytes(value) ? ' data'.repeat(Math.ceil(value.length / lettersOfToken)) : value;
  if (value === null || typeof value !== 'object') return '';
  return Object.values(value).map(textsIn).join(' ');
};

/**
 * What else stands in a message or a piece of one, and is handed on with it. A service that counts
 * has it in its count or does not charge it.
 */
const besideIn = (piece: unknown): string => {
  const { reasoning_content, reasoning } = (piece ?? {}) as Json;
  const said = worded(reasoning_content) || worded(reasoning);
  return Object.entries((piece ?? {}) as Json)
    .filter(([name]) => !told.includes(name) && !(said !== '' && thoughts.includes(name)))
    .map(([, value]) => textsIn(value))
    .join('');
};

/** What a choice says: whole in its `message`, in pieces in its `delta`. Some services mix them up. */
export const pieceOf = <T>(choice: { message?: T; delta?: T }): T | undefined =>
  choice.delta ?? choice.message;

const piecesOf = ({ choices }: Json): unknown[] =>
  Array.isArray(choices)
    ? (choices as Parameters<typeof pieceOf>[0][]).map((choice) => pieceOf(choice ?? {}))
    : [];

/** The same of all choices of an answer (`message`), or of an event (`delta`). */
export const producedBy = (answer: Json): string => piecesOf(answer).map(producedIn).join('');

/** What stands beside it in all choices of an answer, or of an event. */
export const besideBy = (answer: Json): string => piecesOf(answer).map(besideIn).join('');
