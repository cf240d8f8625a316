/** So much of a text is read, UTF-16 units: an import may bring two million. */
const mostRead = 100_000;

/** A sentence, or what stands like one. */
const sentences = (text: string): string[] =>
  text
    .slice(0, mostRead)
    .replace(/```[\s\S]*?```/g, ' ')
    .split(/(?<=[。！？!?；;\n])/)
    .map((each) => each.trim())
    .filter((each) => each.length > 1);

const sayings =
  /记住|记得|我叫|我是|我的|我们|名字|生日|地址|电话|喜欢|讨厌|不要|必须|一定|需要|要求|决定|约定|计划|目标|预算|截止|密码|因为|remember|my |must|deadline/i;

/** How much a sentence says that is asked for later. */
const weight = (sentence: string): number =>
  (sayings.test(sentence) ? 2 : 0) +
  (/\d|[一二三四五六七八九十百千万][年月日号点个元块]/.test(sentence) ? 1 : 0);

/** UTF-16 units of one sentence. */
const mostOfOne = 160;
/** Units of what is said again in words that differ by little. */
const short = (text: string): string =>
  text.length > mostOfOne ? `${text.slice(0, mostOfOne)}…` : text;

/**
 * What older exchanges come to without a model: the sentences with names, numbers, wishes and
 * decisions, in their order. What says least goes first where they are too many.
 * @param before what was made of still older ones
 */
export const excerptOfTalk = (
  exchanges: readonly { human: string; ai: string }[],
  before: string,
  most: number,
): string => {
  const lines = before === '' ? [] : before.split('\n').map((text) => ({ text, weight: 3 }));
  const seen = new Set(lines.map(({ text }) => text));
  const add = (text: string, value: number) => {
    if (seen.has(text)) return;
    seen.add(text);
    lines.push({ text, weight: value });
  };
  for (const { human, ai } of exchanges) {
    for (const [at, each] of sentences(human).entries())
      if (at === 0 || weight(each) > 0) add(`- 用户：${short(each)}`, 1 + weight(each));
    const said = sentences(ai);
    for (const [at, each] of said.entries())
      if (weight(each) > 0 && at < 12) add(`- 回答：${short(each)}`, weight(each));
  }
  let length = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  const dropped = new Set<number>();
  const byWeight = [...lines.entries()].sort(([a, one], [b, other]) =>
    one.weight === other.weight ? a - b : one.weight - other.weight,
  );
  for (const [at, { text }] of byWeight) {
    if (length <= most) break;
    dropped.add(at);
    length -= text.length + 1;
  }
  return lines
    .filter((_, at) => !dropped.has(at))
    .map(({ text }) => text)
    .join('\n')
    .slice(0, most);
};

/** What a long text comes to without a model: its beginning, and the sentences that say most. */
export const excerptOfText = (text: string, most: number): string => {
  const begin = text.slice(0, Math.floor(most / 3));
  const rest = sentences(text.slice(begin.length)).map((each, at) => ({
    at,
    text: short(each),
    weight: weight(each),
  }));
  let room = most - begin.length - 2;
  const taken = [...rest]
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .filter((each) => (room -= each.text.length + 1) >= 0)
    .sort((a, b) => a.at - b.at);
  return [begin, ...taken.map((each) => each.text)].join('\n');
};
