import * as z from 'zod/mini';
import {
  flatImageRequest,
  storedImageRequest,
  type StoredImageRequest,
  structuredMessage,
} from '#contract/chat.ts';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import type { ChatMessage, ContentPart } from '#common/chat-message.ts';
import type { FileService } from '../file/file.service.ts';
import {
  imageParameters,
  isZero,
  sizeCode,
  withoutBlanks,
  withOwnSize,
} from '#server/http/documented.ts';
import { Refusal } from '#server/http/handlers.ts';
import { readJson } from '#server/http/json-text.ts';
import type { Request } from './chat.store.ts';

/** What the area of files knows of images and texts that go with a message. */
export type Attachments = Pick<
  FileService,
  'take' | 'takeImages' | 'imagesForModel' | 'textsForModel'
>;

/** A question as it is stored. */
export interface Question {
  human: string;
  /** Null: plain text. */
  request: Request | null;
  /** Of images: the size as it was written, `WxH` or its code; undefined where it was not. */
  size?: string | number | undefined;
}

/** PostgreSQL has no NUL in a text. */
export const cleaned = (text: string): string => text.replaceAll('\0', '').trim();

export const bad = (field: string, why: string) => new Refusal('bad_input', `${field}：${why}`);

/** The JSON of a message with format 1. Throws a Refusal. */
export const parsed = (msg: string): unknown => {
  try {
    return readJson(msg);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw bad('msg', 'format 为 1 时应是 JSON');
  }
};

/** What a schema makes of it. Throws a Refusal that names the field. */
export const readAs = <T extends z.ZodMiniType>(schema: T, given: unknown): z.output<T> => {
  const read = z.safeParse(schema, withoutBlanks(schema, given));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw bad(path === '' ? 'msg' : `msg.${path}`, (issue?.message ?? '格式不对').replace(/^的/, ''));
};

/** What is wanted of images, where it stands beside the words; undefined: nothing. */
const flatImage = (given: unknown): StoredImageRequest | undefined => {
  const flat = readAs(flatImageRequest, given);
  const named = Object.entries(flat).filter(([, value]) => value !== undefined);
  return named.length === 0 ? undefined : z.parse(storedImageRequest, Object.fromEntries(named));
};

const isRecord = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** The model that stands where a person may; null: it is a person's number, or nothing. */
const modelAmong = (given: unknown): string | null => {
  const name = isRecord(given) && given['id'] === undefined ? given['name'] : given;
  return typeof name === 'string' && !/^\d*$/.test(name) ? name : null;
};

/** What a form sends where it speaks to nobody. */
const isNobody = (given: unknown): boolean => {
  const number = isRecord(given) ? given['id'] : given;
  return number === '' || isZero(number) || (Array.isArray(number) && number.length === 0);
};

/** Parts of a message as the documents' screens write them. */
const partShapes: Readonly<Record<string, (given: unknown) => unknown>> = {
  parameters: imageParameters,
  size: sizeCode,
  /** The person by their number; a blank, 0 and a model's name are nobody's. */
  at_user: (given) => {
    if (isNobody(given) || modelAmong(given) !== null) return null;
    return typeof given === 'number' || typeof given === 'string' ? { id: given } : given;
  },
};

const inOwnShapes = (given: unknown): unknown =>
  isRecord(given)
    ? Object.fromEntries(
        Object.entries(withOwnSize(given)).map(([name, part]) => [
          name,
          partShapes[name] ? partShapes[name](part) : part,
        ]),
      )
    : given;

/** Reads what send_message carries, as it came. Throws a Refusal that names the field. */
export const readQuestion = ({ msg, format }: { msg: string; format: 0 | 1 }): Question => {
  if (format === 0) {
    const human = cleaned(msg);
    if (human === '') throw bad('msg', '内容不能为空');
    return { human, request: null };
  }
  const written = parsed(msg);
  const given = inOwnShapes(written);
  const size = isRecord(written) ? withOwnSize(written)['size'] : undefined;
  const { prompt, image: nested, ...rest } = readAs(structuredMessage, given);
  const image = nested ?? flatImage(given);
  return {
    human: cleaned(prompt),
    request: { ...rest, at_ai: '', ...(image === undefined ? {} : { image }) },
    size: typeof size === 'number' || (typeof size === 'string' && size !== '') ? size : undefined,
  };
};

const isBlank = (given: unknown): boolean =>
  given === undefined || given === null || (typeof given === 'string' && cleaned(given) === '');

/** Of `ai`: a model answers that the message names behind an @. */
export const switchedOn = '1';

/** Characters of a question's title. */
export const questionTitle = 100;

/** Throws a Refusal where a question has no title or no text (document 2 §5). */
const requireBoth = (title: unknown, content: unknown): void => {
  if (isBlank(title) || isBlank(content)) throw new Refusal('bad_input', '请输入内容和标题');
};

/**
 * A message to people as the documents write it: as text, of a question its title in `msg` and its
 * text in `ai`; as JSON the title in `title` or `prompt`, the text in `content` or `completion`, a
 * model that is mentioned in `at_user`. The page has a title beside `msg`. What begins a question by
 * one of these has both. Throws a Refusal.
 */
export const asWritten = (
  sent: Parsed<'sendMessage'>,
  beginsQuestion: boolean,
): Parsed<'sendMessage'> => {
  const given = sent.format === 1 ? parsed(sent.msg) : null;
  const { title: beside, msg: words } = sent;
  const named = beginsQuestion && sent.ai === switchedOn ? undefined : sent.ai;
  const posted = beside === undefined ? named : words;
  if (beginsQuestion && given === null && posted !== undefined)
    requireBoth(beside ?? words, posted);
  const mentioned = isRecord(given) ? modelAmong(given['at_user']) : null;
  const chosen = named === switchedOn ? (mentioned ?? named) : named || mentioned;
  const input = { ...sent, ai: chosen ?? undefined };
  if (!isRecord(given)) return input;
  const { title, content, completion, prompt, ...rest } = given;
  const text = completion ?? content ?? (title === undefined ? undefined : prompt);
  const above = title ?? (text === undefined ? undefined : prompt);
  const isHalf = above !== undefined || text !== undefined || Object.keys(rest).length === 0;
  if (beginsQuestion && beside === undefined && isHalf) requireBoth(above, text);
  if (above === undefined && text === undefined) return input;
  if ((above !== undefined && typeof above !== 'string') || (above ?? '').length > questionTitle)
    throw bad('msg.title', `应为不超过 ${questionTitle} 个字符的文字`);
  const msg = JSON.stringify({ ...rest, prompt: text ?? prompt });
  return { ...input, msg, ...(above === undefined ? {} : { title: above }) };
};

/** Only the first message of a question has a title: below it, it is the text's first line. */
export const titleInText = (input: Parsed<'sendMessage'>): Parsed<'sendMessage'> => {
  if (input.format === 0 || cleaned(input.title ?? '') === '') return input;
  const { prompt, ...rest } = parsed(input.msg) as { prompt: unknown };
  if (typeof prompt !== 'string') return input;
  return { ...input, msg: JSON.stringify({ ...rest, prompt: `${input.title}\n\n${prompt}` }) };
};

/** A question to a model of words or to people: what it carries for images does not count. */
export const asTalk = ({ human, request }: Question): Question => {
  if (request === null) return { human, request };
  const { image: _, ...rest } = request;
  if (human === '' && rest.images.length + rest.files.length === 0)
    throw bad('msg.prompt', '内容不能为空');
  return { human, request: { ...rest, type: rest.images.length > 0 ? 'chat-vision' : 'chat' } };
};

/**
 * Refuses images and files that are not there or not the sender's; gives the question with the
 * files' own names and sizes. Costs nothing for a plain text.
 */
export const checkAttachments = async (
  db: Executor,
  attachments: Attachments,
  { human, request }: Question,
  userId: number,
): Promise<Question> =>
  request === null
    ? { human, request }
    : { human, request: { ...request, ...(await attachments.take(db, request, userId)) } };

/** What stands around an attached text beside its name, UTF-16 units. */
const aroundFile = 40;

/** How much goes along with the questions of one conversation. */
export interface Room {
  /** UTF-16 units of attached texts. */
  text: number;
  images: number;
}

/** Stands for an attached file in the place of its id, which is nobody's but its owner's. */
const noFile = '00000000-0000-0000-0000-000000000000';

/** What goes along with a message, as anybody but its author may have it: no id opens anything. */
export const withoutIds = (request: Request | null): Request | null => {
  // What asks for a film has no such list.
  const { files = [] } = (request ?? {}) as Partial<Request>;
  return request === null || files.length === 0
    ? request
    : { ...request, files: files.map((file) => ({ ...file, uuid: noFile })) };
};

/**
 * A question as a model gets it, with its images and files as far as there is room, which is
 * taken from `room`. Without `vision` images are only mentioned.
 */
export const contentOf = async (
  db: Executor,
  attachments: Attachments,
  { human, request, userId }: Question & { userId: number },
  { vision, room }: { vision: boolean; room: Room },
): Promise<ChatMessage['content']> => {
  room.text -= human.length;
  if (request === null) return human;
  const { images, files, image_detail } = request;
  const parts: ContentPart[] = human === '' ? [] : [{ type: 'text', text: human }];
  const ids = files.map((file) => file.uuid);
  for (const part of await attachments.textsForModel(db, ids, userId)) {
    if (part.type !== 'file') continue;
    const most = Math.max(0, room.text - part.name.length - aroundFile);
    const text = part.text.slice(0, most);
    parts.push({ ...part, text, cut: part.cut || text.length < part.text.length });
    room.text -= text.length + part.name.length + aroundFile;
  }
  const taken = vision ? images.slice(0, Math.max(0, room.images)) : [];
  room.images -= taken.length;
  parts.push(...(await attachments.imagesForModel(taken, image_detail)));
  const left = images.length - taken.length;
  if (left > 0) parts.push({ type: 'text', text: `（这里还有 ${left} 张图片）` });
  return parts.length === 0 ? human : parts;
};

export const fullRoom = (maxPrompt: number): Room => ({
  text: maxPrompt,
  images: limits.visionImages,
});
