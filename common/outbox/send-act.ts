import type { In } from '#contract/calls.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import {
  type Act,
  type ActStore,
  type Failure,
  isFailure,
  judge,
  type Line,
  type Part,
  type Sent,
} from './act.ts';

/** The body of a message with the images and files that were uploaded for it. */
export const withParts = (input: In<'sendMessage'>, parts: readonly Part[]): In<'sendMessage'> => {
  if (parts.length === 0) return input;
  const message = JSON.parse(input.msg) as {
    images: string[];
    files: { uuid: string; name: string; size: number }[];
  };
  const images = parts.filter(({ kind }) => kind === 'image').map(({ url }) => url);
  const files = parts
    .filter(({ kind }) => kind === 'file')
    .map(({ uuid, name, size }) => ({ uuid, name, size }));
  return {
    ...input,
    msg: JSON.stringify({
      ...message,
      type: images.length + message.images.length > 0 ? 'chat-vision' : 'chat',
      images: [...message.images, ...images],
      files: [...message.files, ...files],
    }),
  };
};

const wordsOf = (human: string): string => {
  try {
    const value = JSON.parse(human) as { prompt?: unknown } | null;
    return typeof value?.prompt === 'string' ? value.prompt : human;
  } catch {
    return human;
  }
};

/**
 * The server may have it, and may no longer know its key: after a day, by a clock that may have
 * been set meanwhile. Its messages tell.
 */
const found = async (line: Line, act: Act): Promise<Sent | null> => {
  if (act.name !== 'sendMessage' || act.tries === 0 || act.input.replace !== undefined) return null;
  const words = wordsOf(act.input.msg);
  const newerThan = (id: number) =>
    line.newer(String(act.input.session_id), id).catch((error: unknown) => {
      // A login that has ended reads as nobody's: sending says what stands against the message.
      if (isFailure(error) && judge('sendMessage', error) === 'refused') return [];
      throw error;
    });
  // Heavy messages come in several answers, of which the last is empty.
  for (let after = act.before ?? 0; ;) {
    const newer = await newerThan(after);
    const same = newer.find(({ human }) => wordsOf(human) === words);
    if (same)
      return { id: same.id, msg: same.human, created_at: same.created_at, beside: same.beside };
    const last = newer.at(-1)?.id ?? 0;
    if (last <= after) return null;
    after = last;
  }
};

/** The parts of a message, those that were not on the server uploaded now. @throws Failure */
const uploaded = async (store: ActStore, line: Line, act: Act): Promise<readonly Part[]> => {
  const parts = [...(act.parts ?? [])];
  for (const [at, part] of parts.entries()) {
    if (part.url !== '' || part.uuid !== '') continue;
    const blob = await store.blob(part.id);
    if (!blob) {
      const failure: Failure = {
        status: 200,
        code: codeNumbers.upload_unreadable,
        message: `「${part.name}」已不在这台设备上`,
        wait: 0,
      };
      throw failure;
    }
    parts[at] = { ...part, ...(await line.upload(part, blob)) };
    await store.change(act.id, { parts: [...parts] });
  }
  return parts;
};

/** Begins images. What stands against it is for the person to see at the message, which is there. */
const draw = async (line: Line, input: In<'generateImage'>): Promise<void> => {
  try {
    await line.draw(input);
  } catch (error) {
    const verdict = isFailure(error) ? judge('sendMessage', error) : 'again';
    if (verdict !== 'refused' && verdict !== 'fault') throw error;
  }
};

/** Does an act on the server, a message with its parts and images. @throws Failure */
export const sendAct = async (store: ActStore, line: Line, act: Act): Promise<unknown> => {
  if (act.name !== 'sendMessage') return line.call(act);
  const sent =
    (await found(line, act)) ??
    (await line.call({ ...act, input: withParts(act.input, await uploaded(store, line, act)) }));
  if (act.draw) await draw(line, { ...act.draw, history_id: (sent as Sent).id });
  return sent;
};
