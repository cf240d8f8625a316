import type { OpenContext } from '#server/http/open-handlers.ts';
import { yuanOf } from './key-bounds.ts';

/** A price in yuan, as it is written in headers. */
const yuanText = (tokens: number): string => String(Number(yuanOf(tokens).toFixed(8)));

/** Names in headers of the answer what was taken for it. */
export const tellPrice = (context: Pick<OpenContext, 'header'>, deducted: number): void => {
  context.header('x-deducted-tokens', String(deducted));
  context.header('x-price-yuan', yuanText(deducted));
};

/** The same at the end of a stream: a line that every reader of events passes over. */
export const priceComment = (deducted: number): string =>
  `: x-deducted-tokens ${deducted}, x-price-yuan ${yuanText(deducted)}\n\n`;
