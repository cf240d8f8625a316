/** The words that content of models carries (GB 45438-2025 asks for both halves of them). */
export const madeByAi = '由人工智能生成';

/** Whether text says already that a model made it. */
export const saysMadeByAi = (text: string): boolean =>
  /(?:人工智能|AI).{0,4}(?:生成|合成)/i.test(text);
