import { reckoners } from '#packages/assistant/answer.ts';
import { textOf, texts, ToolFailure, type Tool } from './tool.ts';

const longest = 200;

const ruled = (
  name: keyof typeof reckoners,
  label: string,
  description: string,
  example: string,
): Tool => ({
  label,
  seconds: 5,
  spec: { name, description, parameters: texts({ question: `一句话，如“${example}”` }) },
  run: (given) => {
    const question = textOf(given, 'question', longest);
    const text = name === 'date' ? reckoners.date(question, new Date()) : reckoners[name](question);
    if (text === null) throw new ToolFailure('看不懂这个问题，请换一种写法');
    return { text };
  },
});

const rules = [
  ruled('reckon', '计算', '精确计算算式、百分比、乘方、开方', '(1200-300)*15%'),
  ruled('date', '日期', '今天的日期与时间，星期、农历、相差多少天', '今天是几月几号'),
  ruled('units', '单位换算', '换算长度、重量、温度、面积、速度等单位', '26.2 英里是多少公里'),
] as const;

/** What the built-in assistant works out by rules. */
export const reckoning: readonly Tool[] = rules;

/** The same for models as one tool: three would tell them, and cost, three times as much. */
export const reckonAny: Tool = {
  ...rules[0],
  spec: {
    name: 'reckon',
    description: '精确计算；今天的日期时间、星期、农历、相差几天；单位换算',
    parameters: texts({ question: '如“(1200-300)*15%”“今天星期几”“26.2 英里是多少公里”' }),
  },
  run: async (given, context) => {
    for (const { run } of rules)
      try {
        return await run(given, context);
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
      }
    throw new ToolFailure('看不懂这个问题，请换一种写法');
  },
};
