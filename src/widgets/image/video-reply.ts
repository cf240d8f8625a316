import type { Message } from '#contract/chat.ts';
import type { MadeVideo } from '#contract/video.ts';

/** The films of an answer; null: there are none (yet). */
export const readVideos = ({ ai }: Pick<Message, 'ai'>): readonly MadeVideo[] | null => {
  try {
    const value: unknown = JSON.parse(ai || 'null');
    return Array.isArray(value) ? (value as MadeVideo[]) : null;
  } catch {
    return null;
  }
};

/** The image that a film was asked of; empty: none is named. */
export const videoBase = ({ human, format }: Pick<Message, 'human' | 'format'>): string => {
  if (format !== 1) return '';
  try {
    const { base_image: base } = JSON.parse(human) as { base_image?: unknown };
    return typeof base === 'string' && base.startsWith('/files/') ? base : '';
  } catch {
    return '';
  }
};
