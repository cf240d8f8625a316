import * as z from 'zod/mini';
import { replyState, structuredMessage } from '#contract/chat.ts';
import { sessionTypes } from '#contract/kinds.ts';
import {
  bounds,
  type Budget,
  cutText,
  field,
  type Fields,
  finishSession,
  Followers,
  type ImportedMessage,
  type ImportedSession,
  isFields,
  type MessageRow,
  sessionName,
  type Skipped,
  timeOf,
  whole,
  words,
} from './import-shape.ts';

/** Reads our own export; see json-format.ts for what stands in it. */

const states: ReadonlySet<unknown> = new Set(replyState.options);
const imageUrl = /^(?:\/files\/[\w.]{1,80}|https:\/\/[^\s<>"']{1,1990})$/;

const requestOf = (value: unknown): unknown => {
  if (!isFields(value)) return null;
  const read = z.safeParse(structuredMessage, { ...value, prompt: '' });
  if (!read.success) return null;
  const { prompt: _, ...request } = read.data;
  return {
    ...request,
    images: request.images.filter((image) => imageUrl.test(image)),
    files: request.files.map((file) => ({ ...file, name: words(file.name, 200) })),
    // A number of another server, or one that was made up, is nobody's here.
    at_user: null,
    at_ai: words(request.at_ai, 100),
  };
};

/** So often text and thinking may take turns. */
const mostParts = 1_000;

/** How text and thinking alternate; as one after the other where the file does not fit its text. */
const partsOf = (value: unknown, ai: string, reasoning: string): number[] => {
  const plain = ai === '' && reasoning === '' ? [] : [reasoning.length, ai.length];
  if (!Array.isArray(value) || value.length > mostParts) return plain;
  const sums = [0, 0];
  for (const [at, part] of value.entries()) {
    if (!Number.isSafeInteger(part) || part < 0) return plain;
    sums[at % 2]! += part as number;
  }
  return sums[0] === reasoning.length && sums[1] === ai.length ? (value as number[]) : plain;
};

const stateOf = (value: unknown, ai: string): string => {
  if (value === 'streaming') return 'interrupted';
  return states.has(value) ? String(value) : ai === '' ? 'none' : 'done';
};

/** Images that were drawn, as an answer in a chat shows them: only a server draws. */
const drawnText = (ai: string): string => {
  let reply: unknown;
  try {
    reply = JSON.parse(ai);
  } catch {
    return '';
  }
  const images = isFields(reply) ? field(reply, 'images') : null;
  if (!Array.isArray(images)) return '';
  return (images as unknown[])
    .map((image) => (isFields(image) ? field(image, 'url') : null))
    .filter((url): url is string => typeof url === 'string' && imageUrl.test(url))
    .map((url, at) => `![第 ${at + 1} 张](${url})`)
    .join('\n\n');
};

const messageRow = (fields: Fields, speaker: string, now: number): MessageRow => {
  const type = field(fields, 'type');
  const drawn = type === sessionTypes.image || type === sessionTypes.video;
  const told = words(field(fields, 'ai'), bounds.text);
  const ai = drawn ? drawnText(told) : told;
  const reasoning = words(field(fields, 'reasoning'), bounds.text);
  const human = words(field(fields, 'human'), bounds.text);
  return {
    human: speaker === '' ? human : `${speaker}：${human}`.slice(0, bounds.text),
    ai,
    reasoning,
    parts: partsOf(field(fields, 'parts'), ai, reasoning),
    request: drawn ? null : requestOf(field(fields, 'request')),
    title: words(field(fields, 'title'), 100),
    type: 0,
    model: words(field(fields, 'model'), 100),
    state: stateOf(field(fields, 'state'), ai),
    error_code: words(field(fields, 'error_code'), 100),
    error_message: words(field(fields, 'error_message'), 2_000),
    shown: field(fields, 'shown') === true,
    branch_rank: whole(field(fields, 'rank'), 1_000_000),
    place: 0,
    prompt_tokens: whole(field(fields, 'prompt_tokens'), 2_000_000_000),
    completion_tokens: whole(field(fields, 'completion_tokens'), 2_000_000_000),
    created_at: timeOf(field(fields, 'created_at'), now) ?? new Date(now).toISOString(),
    answered_at: timeOf(field(fields, 'answered_at'), now),
    edited_at: timeOf(field(fields, 'edited_at'), now),
  };
};

const isLong = (fields: Fields): boolean =>
  ['human', 'ai', 'reasoning'].some((name) => {
    const text = field(fields, name);
    return typeof text === 'string' && text.length > bounds.text;
  });

/** Two answers stand beside each other only as a pair that follows the same message. */
const pairUp = (messages: readonly ImportedMessage[], marks: readonly unknown[]): void => {
  const groups = new Map<unknown, number[]>();
  marks.forEach((mark, at) => {
    if (typeof mark !== 'number' || mark === 0) return;
    const list = groups.get(mark);
    if (list) list.push(at);
    else groups.set(mark, [at]);
  });
  for (const [first = -1, second = -1, ...more] of groups.values()) {
    const one = messages[first];
    const two = messages[second];
    if (!one || !two || more.length > 0 || one.before !== two.before) continue;
    one.group = first;
    two.group = first;
    two.row.place = 1;
  }
};

/** Null where there is nothing to read. */
export const readOwnSession = (
  value: unknown,
  at: number,
  { budget, skipped, now }: { budget: Budget; skipped: Skipped; now: number },
): ImportedSession | null => {
  const list = isFields(value) ? field(value, 'messages') : null;
  if (!isFields(value) || !Array.isArray(list)) {
    skipped.add(`${sessionName(at, '')}：没有消息列表`);
    return null;
  }
  const title = words(field(value, 'title'), 2_000);
  const name = sessionName(at, title);
  const owner = words(field(value, 'user'), 100);
  const places = new Map<unknown, number>();
  const marks: unknown[] = [];
  const messages: ImportedMessage[] = [];
  const followers = new Followers();
  for (const [index, each] of (list as unknown[]).entries()) {
    if (!isFields(each)) {
      skipped.add(`${name}：第 ${index + 1} 条消息`);
      continue;
    }
    const user = words(field(each, 'user'), 100);
    const row = messageRow(each, user === '' || user === owner ? '' : user, now);
    if (!budget.take(row)) {
      skipped.add(`${name}：从第 ${index + 1} 条消息起，内容超出了一次能导入的数量`);
      break;
    }
    if (isLong(each)) skipped.add(`${name}：第 ${index + 1} 条消息${cutText}`);
    const previous = field(each, 'prev');
    const before = previous === 0 ? -1 : places.get(previous);
    if (before === undefined) skipped.add(`${name}：第 ${index + 1} 条消息的前一条，放到了开头`);
    marks.push(field(each, 'beside'));
    const id = field(each, 'id');
    if (typeof id === 'number' && id !== 0) places.set(id, messages.length);
    const place = followers.place(before ?? -1, messages.length);
    messages.push({ row, before: place, group: -1 });
  }
  followers.tell(name, skipped);
  pairUp(messages, marks);
  const session = finishSession(
    {
      model: words(field(value, 'model'), 100),
      title,
      createdAt: timeOf(field(value, 'created_at'), now),
      updatedAt: timeOf(field(value, 'updated_at'), now),
    },
    messages,
    now,
  );
  if (!session) skipped.add(`${name}：里面没有消息`);
  return session;
};
