/** Longer than this a message is a text, not some questions in a row. */
const mostLetters = 600;
const mostQuestions = 6;

/** A sentence with its end; 5! is a number. */
const sentences = /(?:[^?？。！!；;\n]|(?<=[\d)])!)+(?:(?<![\d)])!|[?？。！；;])*/g;
const asking = /[?？]|几|多少|什么|哪|吗|怎|如何|为何|谁|能不能|可不可以|[=＝]\s*$/;

const isSaid = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/**
 * The sentences of a message that asks several things, and whether each asks; parted at commas, too,
 * where each part asks. Empty for a long text, and for more questions than anyone asks at once.
 */
export const questionsOf = (message: string): { text: string; asks: boolean }[] => {
  if (message.length > mostLetters) return [];
  const parts = (message.match(sentences) ?? []).flatMap((sentence) => {
    const clauses = sentence.split(/，|,(?!\d{3})/).filter(isSaid);
    return clauses.every((clause) => asking.test(clause)) ? clauses : [sentence];
  });
  const said = parts.map((part) => part.trim()).filter(isSaid);
  return said.length > mostQuestions ? [] : said.map((text) => ({ text, asks: asking.test(text) }));
};
