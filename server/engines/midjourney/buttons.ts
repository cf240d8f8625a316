import type { ImageAction } from '#contract/image.ts';

/** A button as the plus dialect gives it. */
export interface Button {
  customId: string;
  emoji?: string | null | undefined;
  label?: string | null | undefined;
}

/** What a hash begins with that this engine made itself, for services without buttons. */
const own = 'CHANGE::';

const signs = { upscale: '🔍', vary: '🪄', redo: '🔄' } as const;
const four = [1, 2, 3, 4] as const;

/** What the plain dialect can do with four images, as buttons. */
export const plainActions: readonly ImageAction[] = [
  ...four.map((at) => ({
    hash: `${own}UPSCALE::${at}`,
    emoji: signs.upscale,
    label: `放大 ${at}`,
  })),
  ...four.map((at) => ({ hash: `${own}VARIATION::${at}`, emoji: signs.vary, label: `变体 ${at}` })),
  { hash: `${own}REROLL::0`, emoji: signs.redo, label: '再来四张' },
];

export interface Change {
  action: 'UPSCALE' | 'VARIATION' | 'REROLL';
  index?: number;
}

/** What an action of the plain dialect asks for; null: it is one of the service's own. */
export const changeOf = (hash: string): Change | null => {
  const found = /^CHANGE::(UPSCALE|VARIATION|REROLL)::([0-4])$/.exec(hash);
  if (!found) return null;
  const action = found[1] as Change['action'];
  return action === 'REROLL' ? { action } : { action, index: Number(found[2]) };
};

const asking = { region: /^MJ::Inpaint::/, zoom: /^MJ::CustomZoom::/ } as const;

/** What the person must say before the button is pressed; null: nothing. */
export const asksFor = (hash: string): NonNullable<ImageAction['asks']> | null => {
  if (asking.region.test(hash)) return 'region';
  return asking.zoom.test(hash) ? 'zoom' : null;
};

/** The farthest that a custom zoom draws back, hundredths. */
export const mostZoom = 200;

/**
 * Chinese words for the service's buttons, by the part of their names that says what they do, in the
 * order in which they are shown. The page has a 重新生成 of its own, which begins a new message.
 */
const meanings: readonly [RegExp, emoji: string, (at: string) => string][] = [
  [/^MJ::JOB::upsample::([1-4])::/, signs.upscale, (at) => `放大 ${at}`],
  [/^MJ::JOB::variation::([1-4])::/, signs.vary, (at) => `变体 ${at}`],
  [/^MJ::JOB::upsample_\w*subtle::/, signs.upscale, () => '放大（忠于原图）'],
  [/^MJ::JOB::upsample_\w*creative::/, signs.upscale, () => '放大（增加细节）'],
  [/^MJ::JOB::upsample_\w*2x\w*::/, signs.upscale, () => '放大 2 倍'],
  [/^MJ::JOB::upsample_\w*4x\w*::/, signs.upscale, () => '放大 4 倍'],
  [/^MJ::JOB::upsample_\w*(?:redo|light|beta)\w*::/, signs.upscale, () => '重新放大'],
  [/^MJ::JOB::low_variation::/, signs.vary, () => '细微变化'],
  [/^MJ::JOB::high_variation::/, signs.vary, () => '强烈变化'],
  [asking.region, '🖌️', () => '局部重绘'],
  [/^MJ::Outpaint::50::/, '🔎', () => '扩图 2 倍'],
  [/^MJ::Outpaint::75::/, '🔎', () => '扩图 1.5 倍'],
  [asking.zoom, '🔎', () => '自定扩图'],
  [/^MJ::Outpaint::100::/, '↔️', () => '补成方图'],
  [/^MJ::JOB::pan_left::/, '⬅️', () => '向左扩展'],
  [/^MJ::JOB::pan_right::/, '➡️', () => '向右扩展'],
  [/^MJ::JOB::pan_up::/, '⬆️', () => '向上扩展'],
  [/^MJ::JOB::pan_down::/, '⬇️', () => '向下扩展'],
  [/^MJ::JOB::reroll::/, signs.redo, () => '再来四张'],
];

/** A finished work's buttons that make images, in words for people. */
export const actionsOf = (buttons: readonly Button[]): ImageAction[] =>
  buttons
    .flatMap(({ customId, emoji }) => {
      if (customId.length > 300) return [];
      const at = meanings.findIndex(([pattern]) => pattern.test(customId));
      const meaning = meanings[at];
      if (!meaning) return [];
      const [pattern, sign, say] = meaning;
      const label = say(pattern.exec(customId)?.[1] ?? '');
      const asks = asksFor(customId);
      const action = { hash: customId, emoji: emoji || sign, label, ...(asks ? { asks } : {}) };
      return [{ at, action }];
    })
    .sort((a, b) => a.at - b.at)
    .map(({ action }) => action);

/** Whether the work's image holds four images: each of them can be made large. */
export const isGrid = (buttons: readonly Button[]): boolean =>
  buttons.some(({ customId }) => customId.startsWith('MJ::JOB::upsample::4::'));
