import { blocksOf } from '#common/markdown/document.ts';
import { tokensOf } from '#common/markdown/lex.ts';
import { inIdleTime } from '#src/platform/idle.ts';

/** A piece of everything that replies are made of. */
const specimen = [
  '## 标题\n\n一段话，**重点**、*强调*、~~删去~~、`code`。',
  '- 一\n- 二\n  - 三\n\n1. 一\n2. 二',
  '| 甲 | 乙 |\n| --- | ---: |\n| 1 | 2 |\n\n> 引用',
  '[链接](https://example.com) https://example.com $a$\n\n$$\na\n$$',
  '```ts\nconst a = 1;\n```\n\n---\n\n1) 一',
];

let done = false;

/** Reads everything once while there is time: the first words of a reply then find nothing cold. */
export const warmUp = (): void => {
  if (done) return;
  done = true;
  for (const text of [...specimen, ...specimen])
    inIdleTime(() => {
      for (const block of blocksOf(text)) if (block.kind === 'text') tokensOf(block);
    });
};
