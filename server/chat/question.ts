import * as z from 'zod/mini';
import { structuredMessage } from '../../contract/chat.ts';
import { limits } from '../../contract/limits.ts';
import type { Executor } from '../db/database.ts';
import type { ChatMessage, ContentPart } from '../engines/chat-engine.ts';
import type { FileService } from '../file/file.service.ts';
import { Refusal } from '../http/handlers.ts';
import type { Request } from './chat.store.ts';

/** What the area of files knows of pictures and texts that go with a message. */
export type Attachments = Pick<
  FileService,
  'take' | 'takeImages' | 'imagesForModel' | 'textsForModel'
>;

/** A question as it is stored. */
export interface Question {
  human: string;
  /** Null: plain text. */
  request: Request | null;
}

/** PostgreSQL has no NUL in a text. */
export const cleaned = (text: string): string => text.replaceAll('\0', '').trim();

export const bad = (field: string, why: string) => new Refusal('bad_input', `${field}：${why}`);

const parsed = (msg: string): unknown => {
  try {
    return JSON.parse(msg);
  } catch {
    throw bad('msg', 'format 为 1 时应是 JSON');
  }
};

/** Reads what send_message carries, as it came. Throws a Refusal that names the field. */
export const readQuestion = ({ msg, format }: { msg: string; format: 0 | 1 }): Question => {
  if (format === 0) {
    const human = cleaned(msg);
    if (human === '') throw bad('msg', '内容不能为空');
    return { human, request: null };
  }
  const read = z.safeParse(structuredMessage, parsed(msg));
  if (!read.success) {
    const path = read.error.issues[0]?.path.join('.') ?? '';
    throw bad(path === '' ? 'msg' : `msg.${path}`, '格式不对');
  }
  const { prompt, ...rest } = read.data;
  return { human: cleaned(prompt), request: { ...rest, at_ai: '' } };
};

/** A question to a model of words or to people: what it carries for pictures does not count. */
export const asTalk = ({ human, request }: Question): Question => {
  if (request === null) return { human, request };
  const { image: _, ...rest } = request;
  if (human === '' && rest.images.length + rest.files.length === 0)
    throw bad('msg.prompt', '内容不能为空');
  return { human, request: { ...rest, type: rest.images.length > 0 ? 'chat-vision' : 'chat' } };
};

/**
 * Refuses pictures and files that are not there or not the sender's; gives the question with the
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

/**
 * A question as a model gets it, with its pictures and files as far as there is room, which is
 * taken from `room`. Without `vision` pictures are only mentioned.
 */
export const contentOf = async (
  db: Executor,
  attachments: Attachments,
  { human, request }: Question,
  { vision, room }: { vision: boolean; room: Room },
): Promise<ChatMessage['content']> => {
  room.text -= human.length;
  if (request === null) return human;
  const { images, files, image_detail } = request;
  const parts: ContentPart[] = human === '' ? [] : [{ type: 'text', text: human }];
  const ids = files.map((file) => file.uuid);
  for (const part of await attachments.textsForModel(db, ids)) {
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
