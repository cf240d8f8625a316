import { withoutMarks } from './plain.ts';

const firstCharacters = (text: string, most: number): string => {
  // A character is at most two units, so the beginning is enough to look at.
  const characters = Array.from(text.slice(0, most * 2 + 2));
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
};

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** A session's title: its first question in one line of at most 100 characters. */
export const titleOf = (question: string): string =>
  firstCharacters(oneLine(question.slice(0, 2000)), 100);

/** A reply's beginning without its Markdown, in one line of at most 120 characters. */
export const summaryOf = (reply: string): string =>
  firstCharacters(oneLine(withoutMarks(reply.slice(0, 2000))), 120);

/** The beginning of a prompt, as it stands in the list of spends. */
export const excerptOf = (prompt: string): string => firstCharacters(prompt, 200);

/** What a session's card says of a film. */
export const filmText = '[视频]';

/** What a session's card says of images. */
export const imagesText = (count: number): string => `[图片] ${count} 张`;
