/**
 * Phrases of asking, which say nothing of the matter. Whole phrases only: a single character such as
 * 的, 是 or 在 is part of too many words (目的, 在线) to be taken out.
 */
const shells = [
  '请问(?:一下)?|请教(?:一下)?|麻烦(?:您|你)?(?:告诉我(?:一下)?)?|告诉我(?:一下)?',
  '(?:我)?(?:很|就)?想(?:知道|问)(?:一下)?|谁知道|有谁知道|有人知道',
  '怎么(?:办|样|才能|做)?|怎样(?:才能)?|如何(?:才能)?|为什么(?:要有|会|要)?|为何|为啥',
  '是什么意思|什么意思|什么是|是什么|有什么用|干什么用|的(?:作用|含义|用法)是什么|的用法(?=$|[?？。!！])',
  '(?:在)?(?:哪里|哪儿|什么地方)(?:可以|能)?(?:找到|找|看到|看)?|(?:从|到|去)哪(?:里|儿)',
  '有没有|是不是|能不能|可不可以|会不会|要不要|行不行|可以吗|好吗|对吗|是吗',
  '[吗呢吧啊呀嘛](?=$|[?？。!！,，\\s])',
].join('|');
const shell = new RegExp(shells, 'g');

/** A question without its phrases of asking; as it is where nothing else would be left. */
export const withoutShell = (question: string): string => {
  const matter = question.replace(shell, ' ').trim();
  return /[\p{L}\p{N}]/u.test(matter) ? matter : question;
};
