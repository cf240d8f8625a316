const names: Readonly<Record<number, string>> = {
  0: '对话',
  1: '画图',
  2: '语音识别',
  3: '朗读',
  4: '视频',
};

/** The kind of a spend, in words. */
export const kindName = (type: number): string => names[type] ?? '其他';
