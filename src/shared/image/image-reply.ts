import type { Message } from '@contract/chat.ts';
import type { ImageReply } from '@contract/image.ts';

type Reply = Pick<Message, 'ai'>;

const replies = new WeakMap<Reply, ImageReply | null>();

/** The pictures of a message; null: there are none (yet). */
export const readPictures = (message: Reply): ImageReply | null => {
  let reply = replies.get(message);
  if (reply === undefined) {
    try {
      const value = JSON.parse(message.ai || 'null') as Partial<ImageReply> | null;
      reply = Array.isArray(value?.images) ? (value as ImageReply) : null;
    } catch {
      reply = null;
    }
    replies.set(message, reply);
  }
  return reply;
};
