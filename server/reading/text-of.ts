import type { Block } from './block.ts';
import type { Place } from './place.ts';

const markOf = ({ page, sheet, slide }: Place): string =>
  page !== undefined
    ? `【第 ${page} 页】`
    : slide !== undefined
      ? `【第 ${slide} 张幻灯片】`
      : sheet !== undefined
        ? `【表：${sheet}】`
        : '';

/** Blocks as one text for people and models: what is a heading, a row and a page stays visible. */
export const textOf = (blocks: readonly Block[]): string => {
  const lines: string[] = [];
  let mark = '';
  let captions = '';
  for (const { kind, text, level = 1, place } of blocks) {
    const own = markOf(place);
    if (own !== mark && own !== '') lines.push('', own);
    mark = own;
    const caption = (place.heading ?? []).join(' › ');
    if (caption !== '' && caption !== captions) lines.push(caption);
    captions = caption;
    if (text === '') continue;
    if (kind === 'heading') lines.push('', `${'#'.repeat(Math.min(6, level))} ${text}`);
    else if (kind === 'row')
      lines.push(place.row === undefined ? text : `第 ${place.row} 行　${text}`);
    else lines.push(kind === 'note' ? `备注：${text}` : text);
  }
  return lines.join('\n').trim();
};
