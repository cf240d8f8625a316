import type { Message, StructuredMessage } from '#contract/chat.ts';

/** What somebody asked or said, whichever way it is stored. */
export interface Question {
  /** The words alone. */
  text: string;
  /** Addresses of the images. */
  images: readonly string[];
  detail: StructuredMessage['image_detail'];
  files: StructuredMessage['files'];
  /** The person spoken to. */
  atUser: StructuredMessage['at_user'];
  /** Name of the model mentioned; empty: none. */
  atAi: string;
}

type Asked = Pick<Message, 'human' | 'format'>;

const known = new WeakMap<Asked, Question>();

const plain = (text: string): Question => ({
  text,
  images: [],
  detail: 'low',
  files: [],
  atUser: null,
  atAi: '',
});

/** A public https address, or one of this server's images; anything else is not loaded. */
const isImage = (url: unknown): url is string =>
  typeof url === 'string' && /^(?:\/files\/|https:\/\/)/.test(url);

const read = ({ human, format }: Asked): Question => {
  if (format !== 1) return plain(human);
  try {
    const value = JSON.parse(human) as Partial<StructuredMessage> | null;
    if (typeof value?.prompt !== 'string') return plain(human);
    return {
      text: value.prompt,
      images: (value.images ?? []).filter(isImage),
      detail: value.image_detail ?? 'low',
      files: value.files ?? [],
      atUser: value.at_user ?? null,
      atAi: value.at_ai ?? '',
    };
  } catch {
    return plain(human);
  }
};

/** The question of a message; the same object each time for the same message. */
export const readQuestion = (message: Asked): Question => {
  let question = known.get(message);
  if (!question) {
    question = read(message);
    known.set(message, question);
  }
  return question;
};

const ownImage = /^(\/files\/[^?#]+)$/;

/** What of the attached files can go along with another message: others' come with their names alone. */
export const ownFiles = (files: Question['files']): Question['files'] =>
  files.filter(({ uuid }) => !/^[0-]+$/.test(uuid));

/** The small image of one of this server's; other servers' images have none. */
export const thumbnailOf = (url: string, size: 128 | 180 | 320 | 640): string =>
  ownImage.test(url) ? `${url}?size=${size}` : url;
