import type { Valkey } from '#server/valkey/valkey.ts';

/** Some words of a reply in Valkey: as its stream's events, and where they lie in it. */
export interface Message {
  writing: string;
  number: number;
  start: number;
  end: number;
  frames: string;
}

export const packed = ({ writing, number, start, end, frames }: Message): string =>
  `${writing} ${number} ${start} ${end}\n${frames}`;

export const unpacked = (text: string): Message => {
  const head = text.indexOf('\n');
  const [writing = '', number, start, end] = text.slice(0, head).split(' ');
  return {
    writing,
    number: Number(number),
    start: Number(start),
    end: Number(end),
    frames: text.slice(head + 1),
  };
};

/** How often a process says that it tells, ms. */
export const beatMs = 250;

export const keyOf = (valkey: Valkey, id: number): string => valkey.key(`reply:${id}`);
export const beatOf = (valkey: Valkey, owner: number): string => valkey.key(`beat:${owner}`);

/** What Valkey has of the last writing of a reply. */
export const keptWords = async (valkey: Valkey, id: number): Promise<Message[]> => {
  const entries = await valkey.client.xrange(keyOf(valkey, id), '-', '+');
  const messages = entries.map(([, fields]) => unpacked(fields[1] ?? ''));
  const last = messages.at(-1)?.writing;
  return messages.filter(({ writing }) => writing === last);
};
