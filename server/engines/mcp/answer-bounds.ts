import { usualBounds } from '#server/http/json-text.ts';

/**
 * Of one answer, or of all events of one stream: each message is checked, and may want an answer;
 * lines that end in an old way are looked for in all that came.
 */
const most = { bytes: 1_000_000, messages: 200, lines: 10_000 };

/** Its message is for people. */
export class TooMuch extends Error {}

const tooMany = () => new TooMuch('它的回答太复杂');

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [lineFeed, carriageReturn] = [0x0a, 0x0d];
const openingBrace = 0x7b;
const opens = (letter: number): boolean => letter === 0x5b || letter === openingBrace;
const closes = (letter: number): boolean => letter === 0x5d || letter === 0x7d;

/**
 * Looks at JSON as it comes, before anything is made of it: a megabyte of brackets or keys to read
 * keeps everybody else waiting. Of a stream of events only lines of data are JSON; those of one event
 * belong together.
 * @returns what looks at the next piece. @throws TooMuch
 */
export const createAnswerWatch = (events: boolean): ((piece: Uint8Array) => void) => {
  let [bytes, parts, level] = [0, 0, 0];
  let [messages, lines] = [0, 0];
  let [inText, escaped] = [false, false];
  /** The name of a field is read, what stands in it is looked at, or it says nothing. */
  let place: 'name' | 'data' | 'other' = events ? 'name' : 'data';
  let name = '';
  let before = 0;

  const endLine = (): void => {
    lines += 1;
    // An empty line ends an event.
    if (place === 'name' && name === '') [level, messages] = [0, messages + 1];
    if (messages > most.messages || lines > most.lines) throw tooMany();
    [place, name, inText, escaped] = ['name', '', false, false];
  };
  const read = (letter: number): void => {
    if (inText) {
      inText = escaped || letter !== quote;
      escaped = !escaped && letter === backslash;
      return;
    }
    if (letter === quote) inText = true;
    else if (opens(letter)) level += 1;
    else if (closes(letter)) level -= 1;
    if (letter === quote || letter === comma || opens(letter)) parts += 1;
    // A list of them is one answer, too.
    if (!events && letter === openingBrace && level <= 2) messages += 1;
    const tooManyParts = parts > usualBounds.parts || level > usualBounds.depth;
    if (tooManyParts || messages > most.messages) throw tooMany();
  };
  return (piece) => {
    bytes += piece.length;
    if (bytes > most.bytes) throw new TooMuch('它的回答太长');
    for (const letter of piece) {
      const ends = letter === carriageReturn || letter === lineFeed;
      if (!events || (place === 'data' && !ends)) read(letter);
      else if (ends) {
        if (letter !== lineFeed || before !== carriageReturn) endLine();
      } else if (place === 'name') {
        if (letter === colon) place = name === 'data' ? 'data' : 'other';
        else if (name.length < 8) name += String.fromCharCode(letter);
      }
      before = letter;
    }
  };
};
