import * as z from 'zod/mini';
import { text, wholeNumber } from './call.ts';

/** Which part of a list a program asks for, as OpenAI has it: the newest first unless told otherwise. */
export const listPage = {
  limit: z._default(wholeNumber(1, 100), 20),
  after: z.optional(text(100)),
  order: z._default(z.enum(['asc', 'desc'], { error: '应为 asc 或 desc' }), 'desc'),
};
