import * as z from 'zod/mini';
import { imageReply, type ImageReply } from '#contract/image.ts';

/** What stands in `ai` of an answered message of images; null: it is none. */
export const readReply = (ai: string): ImageReply | null => {
  try {
    const read = z.safeParse(imageReply, JSON.parse(ai));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
};
