/** Pieces of Markdown to look at. */

const parts: { asked: RegExp; title: string; body: string }[] = [
  {
    asked: /表格|table/i,
    title: '表格',
    body: `| 桥 | 所在地 | 建成 | 主跨 |
|---|---|---:|---:|
| 赵州桥 | 河北赵县 | 605 年 | 37 米 |
| 南京长江大桥 | 江苏南京 | 1968 年 | 160 米 |
| 港珠澳大桥 | 珠江口 | 2018 年 | 458 米 |`,
  },
  {
    asked: /代码|code/i,
    title: '代码',
    body: `\`\`\`ts
/** 斐波那契数列的前 n 项。 */
export const fibonacci = (n: number): number[] => {
  const list = [0, 1];
  while (list.length < n) list.push((list.at(-1) ?? 0) + (list.at(-2) ?? 0));
  return list.slice(0, n);
};
\`\`\``,
  },
  {
    asked: /公式|latex|katex|数学/i,
    title: '公式',
    body: `行内公式 $E = mc^2$，独立的公式：

$$
\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}
$$`,
  },
  {
    asked: /流程图|图表|mermaid|时序图/i,
    title: '流程图',
    body: `\`\`\`mermaid
flowchart LR
  A[写下问题] --> B{选了哪个模型？}
  B -->|内置助手| C[查帮助、计算]
  B -->|其他模型| D[送到模型服务]
  C --> E[流式显示回复]
  D --> E
\`\`\``,
  },
];

const others = `- **粗体**、*斜体*、~~删除线~~、\`行内代码\`
- 列表可以嵌套
  1. 第一步
  2. 第二步
- [x] 做完的事
- [ ] 没做的事

> 两情若是久长时，又岂在朝朝暮暮。——秦观《鹊桥仙》`;

/** The samples asked for, or null when the question asks for none. */
export const samples = (question: string): string | null => {
  if (
    !/示例|例子|样例|演示|demo|sample|展示|给我看|看看|来一个|来个|画一个|画个|写一个|写个/i.test(
      question,
    )
  )
    return null;
  const wanted = parts.filter(({ asked }) => asked.test(question));
  if (wanted.length === 0 && !/markdown|排版|格式/i.test(question)) return null;
  const isWhole = wanted.length === 0 || /markdown/i.test(question);
  const shown = (isWhole ? parts : wanted).map(({ title, body }) => `### ${title}\n\n${body}`);
  return (isWhole ? [`### 文字\n\n${others}`, ...shown] : shown).join('\n\n');
};
