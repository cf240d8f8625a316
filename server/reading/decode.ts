/** As much of a file as its encoding is guessed from, bytes. */
const sample = 64 * 1024;

const decodeAs = (encoding: string, data: Buffer): string | null => {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(data);
  } catch {
    return null;
  }
};

/** Control characters, of which text has few; a NUL could not even be stored. */
const strange = /(?!\s)[\p{Cc}\uFFFE\uFFFF]/gu;

const looksLikeText = (text: string): boolean => {
  const part = text.slice(0, sample);
  return !text.includes('\0') && (part.match(strange)?.length ?? 0) <= part.length / 20;
};

/** UTF-16 without a mark: most letters of most languages leave zeros, or Han's range, in one half. */
const utf16Guess = (data: Buffer): 'utf-16le' | 'utf-16be' | null => {
  if (data.length < 4 || data.length % 2 !== 0) return null;
  const zeros = [0, 0];
  const end = Math.min(data.length, sample);
  for (let at = 0; at < end; at += 1) if (data[at] === 0) zeros[at % 2]! += 1;
  const [even = 0, odd = 0] = zeros;
  const enough = end / 20;
  if (odd > enough && odd > even * 4) return 'utf-16le';
  if (even > enough && even > odd * 4) return 'utf-16be';
  return null;
};

/**
 * The text of a file in UTF-8, UTF-16 or GB18030 (of which GBK and GB2312 are parts), with lines
 * ended by \n; null where it is no text in any of them.
 * @param most characters that are wanted; of a longer text at least as many are given
 */
export const decodeText = (data: Buffer, most = Infinity): string | null => {
  const mark = data.subarray(0, 2).toString('hex');
  const encodings =
    mark === 'fffe'
      ? ['utf-16le']
      : mark === 'feff'
        ? ['utf-16be']
        : [utf16Guess(data), 'utf-8', 'gb18030'].filter((each) => each !== null);
  for (const encoding of encodings) {
    const text = decodeAs(encoding, data);
    // The end of a line may take two of them.
    if (text !== null && looksLikeText(text))
      return text.slice(0, 2 * most).replaceAll(/\r\n?/g, '\n');
  }
  return null;
};
