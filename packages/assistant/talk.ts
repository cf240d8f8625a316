/** Short exchanges, and what 内置助手 says of itself. */

export const abilities = `我能做这些：

- **查帮助**：怎么连接 DeepSeek？token 怎么扣？
- **问文件**：添加 Word、Excel、PDF 等附件，或选一个知识库，就里面的内容提问
- **算术**：(3+5)×12、1.5万的15%、三加五等于几；接着说“再加 5”也行
- **日期**：今天星期几、春节还有几天、农历八月十五是哪天、30 天后是几号
- **单位**：5 英里是多少公里、3 斤等于几公斤、100 华氏度
- **文字**：字数统计：……、转大写：……、反转：……、随机数 1 到 100、UUID
- **排版示例**：给我看一个 Markdown 示例`;

const self = `我是鹊桥的**内置助手**，不是神经网络模型，而是一个按规则工作的小程序：不联网、不要密钥、不扣 token。

${abilities}

写文章、翻译、写代码这类事需要真正的模型。连接的办法见[连接模型服务](/help?page=connect)。`;

const aboutItself: [RegExp, string][] = [
  [
    /^(?:你是谁|你是什么|你叫什么|介绍一下?你自己|自我介绍|你是.{0,8}(?:模型|gpt|ai|人工智能|机器人|真人|人)|who are you)/i,
    self,
  ],
  [
    /^(?:你|内置助手)?(?:能|可以|会)(?:做|干|帮我做)?(?:些)?(?:什么|啥|哪些)|^(?:你)?有(?:什么|哪些)(?:功能|本领|用)|^帮助$|^help$/i,
    self,
  ],
];
const courtesies: [RegExp, string][] = [
  [
    /^(?:你好|您好|嗨|哈喽|早上好|上午好|中午好|下午好|晚上好|早安|在吗|在不在|hi|hello|hey)(?:[呀啊啦吗，,！!。~\s]|$)/i,
    `您好！我是鹊桥的内置助手。我不是神经网络模型，但会查帮助、算算术、日期和单位。\n\n试试问我：“怎么连接 DeepSeek？”“今天星期几？”“5 英里是多少公里？”`,
  ],
  [/^(?:谢谢|多谢|感谢|谢啦|thanks|thank you|thx)/i, '不客气！还有别的可以随时问我。'],
  [/^(?:再见|拜拜|晚安|回头见|bye)/i, '再见，祝您一切顺利！'],
  [/^(?:好的?|行|嗯+|哦+|ok|知道了|明白了?|收到)[。！!~\s]*$/i, '好的。还想知道什么，直接问就行。'],
];

const among = (exchanges: [RegExp, string][], said: string): string | null => {
  const words = said
    .trim()
    .replace(/^请问|^那么?|^请/, '')
    .replace(/[?？！!。~]+$/, '');
  if (words.length > 40) return null;
  return exchanges.find(([pattern]) => pattern.test(words))?.[1] ?? null;
};

/** Whether it is said to be polite, and asks nothing. */
export const isCourtesy = (said: string): boolean => among(courtesies, said) !== null;

/** The answer to a greeting and the like, or null. */
export const talk = (question: string): string | null =>
  among([...aboutItself, ...courtesies], question);
