import { buffer } from 'node:stream/consumers';
import { madeInSession } from '../chat/image-messages.service.ts';
import type { FileService } from '../file/file.service.ts';
import { type ToolContext, ToolFailure } from '../tool/tool.ts';

export type TalkFiles = Pick<FileService, 'openOther' | 'attachedText' | 'attachedBytes'>;

type Before = Pick<ToolContext, 'db' | 'user' | 'sessionId' | 'historyId' | 'round'>;

/** Names that are told to a model that named no file there is. */
const mostTold = 12;

/** One file of a conversation. */
export interface TalkFile {
  name: string;
  /** As it came. Null: it is kept no longer, or has more bytes than that. */
  bytes: (most: number) => Promise<Buffer | null>;
  /** What it says; of what tools made its bytes. @throws Refusal not_found */
  words: (most: number) => Promise<Buffer | null>;
}

const keyIn = (url: string): string => /^\/files\/(\w+)\.bin$/.exec(url)?.[1] ?? '';

/**
 * Files of what is shown of a conversation, newest first, each name once: what its person attached,
 * and what tools made for them before this round.
 */
export const filesOfTalk = async (
  files: TalkFiles,
  { db, user, sessionId, historyId, round }: Before,
): Promise<TalkFile[]> => {
  const found = new Map<string, TalkFile>();
  const put = (file: TalkFile) => {
    if (!found.has(file.name)) found.set(file.name, file);
  };
  for (const row of await madeInSession(db, { sessionId, upTo: historyId, userId: user.id })) {
    const made = (row.tools ?? []).filter((call) => row.id !== historyId || call.round < round);
    for (const { name, url, size } of made.flatMap((call) => call.files ?? []).reverse()) {
      const key = keyIn(url);
      if (key === '') continue;
      const bytes = async (most: number) => {
        const open = size > most ? null : await files.openOther(db, key);
        return open && buffer(open.stream);
      };
      put({ name, bytes, words: bytes });
    }
    for (const { uuid, name, size } of row.request?.files ?? [])
      put({
        name,
        bytes: (most) =>
          size > most ? Promise.resolve(null) : files.attachedBytes(db, uuid, user),
        words: async () => Buffer.from((await files.attachedText(db, uuid, user)).text ?? ''),
      });
  }
  return [...found.values()];
};

/** What a model is told that named a file which is not there. */
export const noSuchFile = (name: string, there: readonly TalkFile[]): ToolFailure => {
  const names = there
    .slice(0, mostTold)
    .map((file) => file.name)
    .join('、');
  return new ToolFailure(
    `这次对话里没有文件“${name.slice(0, 100)}”${names === '' ? '' : `，有：${names}`}`,
  );
};
