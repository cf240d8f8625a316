import type { Figures } from '#server/http/figures.ts';

/** What Prometheus learns of the replies of this process. */
export interface ReplyFigures {
  /** Its first word came so many s after the question; `channelId` null: the built-in assistant. */
  firstWord: (model: string, channelId: number | null, seconds: number) => void;
  ended: (model: string, state: string, seconds: number) => void;
}

export const createReplyFigures = (figures: Figures): ReplyFigures => {
  const first = figures.histogram({
    name: 'queqiao_first_word_seconds',
    help: 'From the question to the first word of its reply',
    labels: ['model', 'channel'],
    buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60],
  });
  const whole = figures.histogram({
    name: 'queqiao_reply_seconds',
    help: 'From the question to the end of its reply, by how it ended',
    labels: ['model', 'state'],
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 180, 600],
  });
  return {
    firstWord: (model, channelId, seconds) =>
      first({ model, channel: channelId === null ? 'built-in' : String(channelId) }, seconds),
    ended: (model, state, seconds) => whole({ model, state }, seconds),
  };
};
