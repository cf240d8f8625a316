import type { Message } from '#contract/chat.ts';
import type { ImageReply } from '#contract/image.ts';

/** Messages that an earlier version kept on this device have no `made`. */
type Reply = Pick<Message, 'ai'> & Partial<Pick<Message, 'made'>>;

const replies = new WeakMap<Reply, ImageReply | null>();

/** The images of a message; null: there are none (yet). */
export const readImages = (message: Reply): ImageReply | null => {
  let reply = replies.get(message);
  if (reply === undefined) {
    try {
      if (message.made) return message.made;
      const value = JSON.parse(message.ai || 'null') as Partial<ImageReply> | null;
      reply = Array.isArray(value?.images) ? (value as ImageReply) : null;
    } catch {
      reply = null;
    }
    replies.set(message, reply);
  }
  return reply;
};
