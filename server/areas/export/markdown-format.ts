import type { SessionRow } from '../session/session.service.ts';
import { aboutText, timeText, type Talk, type Telling } from './talk.ts';

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Headings and the like in somebody's words stay words in the file. */
const asLine = (text: string): string => oneLine(text).replace(/([\\`*_[\]<>#])/g, '\\$1');

const addressOf = (address: string, base: string): string =>
  address.startsWith('/') ? base + address : address;

/** @param mark words that say that a model made it; empty: none */
export const markdownHead = (
  session: SessionRow,
  count: number,
  telling: Telling,
  mark: string,
): string =>
  [
    `# ${asLine(session.prompt) || '鹊桥对话'}\n`,
    `${asLine(aboutText(session, count, telling))}\n`,
    ...(mark === '' ? [] : [`${mark}\n`]),
  ].join('\n');

/** What stands behind everything. */
export const markdownFoot = (foot: string): string => `---\n\n${asLine(foot)}\n`;

/** One message. `base`: this server's address, before its own images. */
export const markdownMessage = (talk: Talk, base: string, { timeZone }: Telling): string =>
  [
    `---\n\n## ${asLine(talk.speaker)} · ${timeText(talk.time, timeZone)}\n`,
    talk.title === '' ? '' : `**${asLine(talk.title)}**\n`,
    talk.text === '' ? '' : `${talk.text}\n`,
    ...talk.images.map((image) => `![图片](${addressOf(image, base)})\n`),
    ...talk.files.map((file) => `附件：${asLine(file)}\n`),
    ...talk.answers.map(({ name, text, images }) =>
      [
        `### ${asLine(name)}\n`,
        text === '' ? '' : `${text}\n`,
        ...images.map((image, at) => `![图片 ${at + 1}](${addressOf(image, base)})\n`),
      ]
        .filter((part) => part !== '')
        .join('\n'),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n');
