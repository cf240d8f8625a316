import { madeByAi, saysMadeByAi } from '#contract/made-by-ai.ts';
import { site } from './site.ts';

/** What a model made, as it leaves: with the words that say so where whoever runs this wants them. */

export const madeText = (text: string): string =>
  site().mark_text && text.trim() !== '' && !saysMadeByAi(text.slice(-40))
    ? `${text.trimEnd()}\n\n${madeByAi}`
    : text;

/** The address of an image with the words on it; the server leaves alone what people made. */
export const markedImage = (address: string): string =>
  site().mark_images && /^\/files\/[0-9a-f]{40}\.(?:png|jpg)$/.test(address)
    ? `${address}?marked=1`
    : address;
