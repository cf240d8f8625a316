import { needsTranslation } from '#contract/image-prompt.ts';
import type { Keyword } from './keywords.ts';

/** What words of a prompt tell of what is in the image. */
const subjects: readonly { of: RegExp; add: readonly string[] }[] = [
  {
    of: /人|女孩|男孩|姑娘|少女|少年|老人|肖像|脸|portrait|girl|boy|woman|man\b|face/iu,
    add: ['half body portrait', '85mm portrait lens', 'detailed face', 'rim light'],
  },
  {
    of: /山|海|湖|江|河|云|日出|日落|草原|森林|雪|风景|mountain|sea|lake|river|forest|landscape|valley/iu,
    add: ['wide angle lens', 'layered depth', 'golden hour', 'morning mist'],
  },
  {
    of: /城|街|楼|夜景|霓虹|房|桥|city|street|building|skyline|bridge|house/iu,
    add: ['leading lines', 'low angle shot', 'neon light', 'puddle reflections'],
  },
  {
    of: /猫|狗|鸟|马|狐|兔|鱼|熊|虎|动物|cat|dog|bird|horse|fox|rabbit|fish|bear|tiger|animal/iu,
    add: ['close-up', 'shallow depth of field', 'sparkling eyes', 'soft light'],
  },
  {
    of: /花|叶|树|竹|荷|梅|樱|flower|leaf|tree|bamboo|lotus|blossom/iu,
    add: ['macro shot', 'soft focus', 'dappled light', 'falling petals'],
  },
  {
    of: /水墨|国画|古风|山水|ink|chinese/iu,
    add: ['generous empty space', 'freehand brushwork', 'paper texture', 'muted tones'],
  },
];
const otherwise = ['rule of thirds', 'medium shot', 'soft light', 'rich colors'];
const always = ['best quality', 'highly detailed', 'high resolution'];
/** Words that are added at most. */
const most = 9;

/**
 * Adds fitting words of the keyword library, in the language that the prompt is written in. No
 * model: the same prompt always gets the same words, and none that it already holds.
 */
export const expandFromLibrary = (prompt: string, library: readonly Keyword[]): string => {
  const chinese = needsTranslation(prompt);
  const fitting = subjects.filter(({ of }) => of.test(prompt)).flatMap(({ add }) => add);
  const wanted = [...new Set([...(fitting.length > 0 ? fitting : otherwise), ...always])];
  const words = new Map<string, Keyword>(library.map((word) => [word.text, word]));
  const lower = prompt.toLowerCase();
  const added = wanted
    .flatMap((text) => words.get(text) ?? [])
    .filter(({ text, langZh }) => !lower.includes(text) && !prompt.includes(langZh))
    .slice(0, most)
    .map(({ text, langZh }) => (chinese ? langZh : text));
  return [prompt.replace(/[\s,，、。.]+$/u, ''), ...added].join(chinese ? '，' : ', ');
};
