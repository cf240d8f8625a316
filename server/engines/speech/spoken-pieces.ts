/** Pieces that end where a sentence does, as far as there is one. */
export const piecesOf = (text: string, most: number): string[] => {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const head = rest.slice(0, most);
    const end = Math.max(
      ...['。', '！', '？', '；', '\n', '.', '!', '?', ';'].map((mark) => head.lastIndexOf(mark)),
    );
    const cut = end > most / 3 ? end + 1 : most;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  if (rest.trim() !== '') pieces.push(rest);
  return pieces;
};

/** Letters of the first pieces: the first is soon spoken, and sounds until the second is. */
const heads = [
  { least: 8, most: 40 },
  { least: 24, most: 80 },
] as const;

const sentenceEnd = /[。！？；…\n]+[”」』）]*|[.!?;](?=\s)/gu;
const pause = /[，、：,:](?!\d)|\s/gu;

/** Where a piece ends; 0: nowhere. */
const endOf = (text: string, { least, most }: (typeof heads)[number]): number => {
  const near = text.slice(0, most + 1);
  for (const mark of [sentenceEnd, pause])
    for (const found of near.matchAll(mark)) {
      const end = found.index + found[0].length;
      if (end >= least && end <= most) return end;
    }
  return 0;
};

/** A first sentence or two by themselves, so that they can be heard while the rest is made. */
export const firstSentences = (text: string): { heads: string[]; rest: string } => {
  const cut: string[] = [];
  let rest = text;
  for (const bounds of heads) {
    const end = endOf(rest, bounds);
    if (end === 0 || rest.slice(end).trim() === '') break;
    cut.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return { heads: cut, rest };
};
