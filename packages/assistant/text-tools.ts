import { randomInt, randomUUID } from 'node:crypto';
import { graphemesOf } from '#common/graphemes.ts';

/** Small tools for texts: count, change case, turn round, base64, random numbers. */

const most = 20_000;

/** A line as it stands, whatever Markdown would make of it. */
export const asIs = (line: string): string =>
  line.replace(/[\\`*_[\]<>|#~$!+-]|(?<=^\d+)[.)]/g, String.raw`\$&`);

/** A fence that the text itself does not close. */
export const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
};

/** How long a text is, as a table. */
export const countText = (text: string): string => {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/[\p{Script=Latin}\d]+(?:['’-][\p{Script=Latin}\d]+)*/gu)?.length ?? 0;
  let letters = 0;
  let blanks = 0;
  for (const letter of graphemesOf(text)) {
    letters += 1;
    if (/^\s+$/.test(letter)) blanks += 1;
  }
  const rows = [
    ['字符（含标点和空格）', letters],
    ['不含空白的字符', letters - blanks],
    ['汉字', han],
    ['英文单词和数字', words],
    ['行', text.split('\n').length],
    ['UTF-8 字节', Buffer.byteLength(text)],
  ];
  return `| 项目 | 数目 |\n|---|---:|\n${rows.map(([name, number]) => `| ${name} | ${number} |`).join('\n')}`;
};

const decodeBase64 = (text: string): string => {
  const compact = text.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) return '这不是 base64 文字。';
  const decoded = Buffer.from(compact, 'base64').toString('utf8');
  return decoded.includes('\uFFFD') ? '解出来的不是文字。' : fenced(decoded);
};

const tools: { names: RegExp; act: (text: string) => string }[] = [
  {
    names:
      /^(?:请|帮我)?(?:统计|数一数|数一下|算一下|计算)?(?:这段话的?|下面的?|以下)?(?:字数统计|统计字数|字数|字符数|有多少(?:个)?字)$/,
    act: countText,
  },
  {
    names: /^(?:请|帮我|把)?.{0,6}(?:转|转换|变|改|换)?(?:成|为)?大写$|^(?:upper|uppercase)$/i,
    act: (text) => fenced(text.toUpperCase()),
  },
  {
    names: /^(?:请|帮我|把)?.{0,6}(?:转|转换|变|改|换)?(?:成|为)?小写$|^(?:lower|lowercase)$/i,
    act: (text) => fenced(text.toLowerCase()),
  },
  {
    names: /^(?:请|帮我|把)?.{0,6}(?:反转|倒过来|倒序|反过来|逆序)(?:文字|字符串)?$|^reverse$/i,
    act: (text) => fenced([...graphemesOf(text)].reverse().join('')),
  },
  {
    names: /^(?:请|帮我)?base64\s*解码$|^(?:请|帮我)?解码\s*base64$/i,
    act: decodeBase64,
  },
  {
    names: /^(?:请|帮我)?(?:转)?base64(?:\s*编码)?$|^(?:请|帮我)?编码\s*base64$/i,
    act: (text) => fenced(Buffer.from(text).toString('base64')),
  },
];

/** What a tool makes of the text behind its name, or null when none is named. */
export const textTool = (question: string): string | null => {
  const [, name = '', rest = ''] =
    /^\s*([^:：\n]{1,30}?)\s*[:：\n]\s*([\s\S]+)$/.exec(question) ?? [];
  const tool = name === '' ? undefined : tools.find(({ names }) => names.test(name));
  if (!tool) return null;
  return rest.length > most ? `文字太长，我一次最多处理 ${most} 个字符。` : tool.act(rest.trim());
};

/** What chance or the machine makes: numbers, dice, coins, ids; null when none is asked for. */
export const draw = (question: string): string | null => {
  if (question.length > 100) return null;
  const between =
    /随机数?.{0,4}?(-?\d{1,12})\s*(?:到|至|-|~|和|，|,)\s*(-?\d{1,12})/.exec(question) ??
    /(-?\d{1,12})\s*(?:到|至|-|~|和)\s*(-?\d{1,12}).{0,6}随机/.exec(question);
  if (between) {
    const [from = 0, to = 0] = [Number(between[1]), Number(between[2])].sort((a, b) => a - b);
    return `随机数：**${randomInt(from, to + 1)}**（${from} 到 ${to}）`;
  }
  if (/随机数|随机.{0,3}数字|random number/i.test(question))
    return `随机数：**${randomInt(1, 101)}**（1 到 100）`;
  if (/^.{0,6}(?:uuid|guid)[?？。]?$/i.test(question.trim())) return `\`${randomUUID()}\``;
  if (/(?:掷|扔|投|丢|摇).{0,4}(?:骰子|色子)/.test(question))
    return `掷出了 **${randomInt(1, 7)}** 点。`;
  if (/(?:抛|掷|扔|丢).{0,4}硬币/.test(question))
    return `**${randomInt(2) === 0 ? '正面' : '反面'}**朝上。`;
  return null;
};
