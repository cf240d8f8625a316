import { maskName } from '#contract/mask-name.ts';
import type { ToolState } from '#contract/tool.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { filmOf, readFilms } from '../chat/films.service.ts';
import { readReply } from '../chat/image-reply.ts';
import { isPage } from '../chat/page-sources.ts';
import { viewTool } from '../chat/stored-tool.ts';
import { addressesOf } from '../chat/image-messages.service.ts';
import type { SessionRow } from '../session/session.service.ts';
import type { ExportRow } from './export.store.ts';

/** A message with its answers, as people read it. */
export interface Talk {
  speaker: string;
  time: Date;
  title: string;
  text: string;
  images: string[];
  files: string[];
  /** `images`: addresses of the images that it is, of a message of images. */
  answers: { name: string; text: string; images: string[] }[];
}

/** How a file tells times and names. */
export interface Telling {
  /** Where whoever reads it lives. */
  timeZone: string;
  /** What people call a model. */
  label: (model: string) => string;
}

const usualZone = 'Asia/Shanghai';

/** A zone that is known, or China's. */
export const zoneOf = (asked: string): string => {
  try {
    return new Intl.DateTimeFormat('zh-CN', { timeZone: asked }).resolvedOptions().timeZone;
  } catch {
    return usualZone;
  }
};

/** 2026-11-21 09:36 in a time zone. */
export const timeText = (date: Date, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    date,
  );

/** 2026-11-21 in a time zone. */
export const dayText = (date: Date, timeZone: string): string =>
  timeText(date, timeZone).slice(0, 10);

const zoneName = (date: Date, timeZone: string): string =>
  new Intl.DateTimeFormat('zh-CN', { timeZone, timeZoneName: 'long' })
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;

export const aboutText = (
  session: SessionRow,
  count: number,
  { timeZone, label }: Telling,
): string =>
  [
    maskName(session.userName),
    session.model === '' ? '' : label(session.model),
    `${timeText(session.createdAt, timeZone)}（${zoneName(session.createdAt, timeZone)}）`,
    `共 ${count} 条消息`,
  ]
    .filter((part) => part !== '')
    .join(' · ');

const endings: Readonly<Record<string, string>> = {
  error: '（回复出错，没有写完）',
  stopped: '（回复已停止）',
  interrupted: '（服务器重启过，这条回复的结尾丢了）',
  streaming: '（回复还没有写完）',
};

/** Images that were made, one that failed named with its number. */
const imagesOf = (row: ExportRow, note: string, name: string): Talk['answers'] => {
  const made = readReply(row.ai)?.images ?? [];
  const images = made.map(({ url }) => url).filter((url) => url !== '');
  const failed = made.flatMap(({ url, error }, at) =>
    url === '' ? [`第 ${at + 1} 张：${error || '图片已删除'}`] : [],
  );
  const text = [...failed, note].filter((part) => part !== '').join('\n\n');
  return text === '' && images.length === 0 ? [] : [{ name, text, images }];
};

/** Words that Markdown shows as they are, on one line. */
const asPlain = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replace(/([\\`*_[\]<>#|~])/g, '\\$1');

/** Characters of what a tool was given and gave; all of it is in the JSON. */
const mostTold = 300;
const outcomes: Partial<Record<ToolState, string>> = {
  failed: '没有成功',
  refused: '没有同意',
  unknown: '结果不明',
  stopped: '已停止',
};

/** What an answer called, as far as its reader may see it. */
const toolsOf = (row: ExportRow, viewer: number | null): string => {
  const lines = (row.tools ?? []).map((tool) => {
    const {
      label,
      arguments: given,
      result,
      state,
    } = viewTool(tool, row.userId === viewer ? 'asker' : 'other');
    const words = [given, result].map((text) => asPlain(text.slice(0, mostTold)).trim());
    const outcome = outcomes[state];
    const told = [label, ...words, outcome === undefined ? '' : `（${outcome}）`];
    return `- ${told.filter((part) => part !== '').join(' · ')}`;
  });
  return lines.length === 0 ? '' : `用到的工具：\n\n${lines.join('\n')}`;
};

/** What the numbers in an answer stand for. */
const sourcesOf = ({ ai, sources }: ExportRow): string => {
  const cited = (sources ?? []).filter(({ n }) => ai.includes(`[${n}]`));
  const lines = cited.map((source) => {
    const { n, title, place, base } = source;
    const where = [title, place].filter((part) => part !== '').join(' · ');
    return `- [${n}] ${asPlain(where)}${isPage(source) ? ` <${source.url}>` : `（知识库「${base}」）`}`;
  });
  return cited.length === 0 ? '' : `来源：\n\n${lines.join('\n')}`;
};

const answerOf = (
  row: ExportRow,
  label: Telling['label'],
  viewer: number | null,
): Talk['answers'] => {
  const name = label(row.model);
  const note = endings[row.state] ?? '';
  if (row.type === sessionTypes.image) return imagesOf(row, note, name);
  if (row.type === sessionTypes.video) {
    const films = readFilms(row.ai);
    const told = films.map(({ duration }) => `（视频，${Math.round(duration)} 秒）`);
    const text = [...told, note].filter((part) => part !== '').join('\n\n');
    return text === '' ? [] : [{ name, text, images: films.map((each) => each.poster) }];
  }
  const text = [toolsOf(row, viewer), row.ai.trim(), note, sourcesOf(row)]
    .filter((part) => part !== '')
    .join('\n\n');
  return text === '' ? [] : [{ name, text, images: [] }];
};

const talkOf = (
  row: ExportRow,
  beside: ExportRow | undefined,
  label: Telling['label'],
  viewer: number | null,
): Talk => ({
  speaker: maskName(row.userName),
  time: row.createdAt,
  title: row.title,
  text: row.human.trim(),
  images:
    row.type === sessionTypes.video
      ? [filmOf(row.human, row.request).base_image].filter((url) => url !== '')
      : [...(row.request?.images ?? []), ...addressesOf(row.request?.image)],
  files: (row.request?.files ?? []).map((file) => file.name),
  answers: [...answerOf(row, label, viewer), ...(beside ? answerOf(beside, label, viewer) : [])],
});

/** Rows of the shown path with those beside them, as messages in order, for one reader. */
export const pairsOf = (
  rows: readonly ExportRow[],
  label: Telling['label'],
  viewer: number | null,
): Talk[] => {
  const partners = new Map<number, ExportRow>();
  for (const row of rows) if (!row.shown) partners.set(row.besideGroup, row);
  return rows
    .filter((row) => row.shown)
    .map((row) =>
      talkOf(row, row.besideGroup === 0 ? undefined : partners.get(row.besideGroup), label, viewer),
    );
};
