import { accountOf } from '#src/platform/account-of.ts';
import { authStore } from '#src/platform/auth-store.ts';
import {
  bytesOf,
  dropFiles,
  keepFile,
  keepInstead,
  keptFiles,
  type KeptFile,
} from '#src/platform/kept-files.ts';
import { toast } from '#src/platform/toast.ts';
import { uuid } from '#src/platform/uuid.ts';

/** Where a recording lies that is not in words yet: in pieces while it runs, whole afterwards. */
export const soundPlace = 'sound';

/** Bytes of the head of a WAV as the recorder makes it. */
const headLength = 44;

/** Several WAVs of one kind as one. */
export const joinSounds = async (sounds: readonly Blob[]): Promise<Blob> => {
  const [first] = sounds;
  if (!first || sounds.length === 1) return first ?? new Blob();
  const head = await first.slice(0, headLength).arrayBuffer();
  const parts = sounds.map((sound) => sound.slice(headLength));
  const length = parts.reduce((sum, { size }) => sum + size, 0);
  const view = new DataView(head);
  view.setUint32(4, headLength - 8 + length, true);
  view.setUint32(headLength - 4, length, true);
  return new Blob([head, ...parts], { type: first.type });
};

let told = false;
/** One writer after the other. */
let writing: Promise<void> = Promise.resolve();
const inTurn = (write: () => Promise<void>): Promise<void> => {
  writing = writing.then(write).catch(() => {
    if (!told) toast('手机存储已满，录音只在这个页面开着时留着', 'error');
    told = true;
  });
  return writing;
};

const soundFile = (id: string, model: string, { size }: Blob): KeptFile => ({
  id,
  name: 'audio.wav',
  size,
  note: model,
});

/** Whether the person is still here who spoke; another one is not to be offered it. */
export const isHere = (account: string): boolean => account === accountOf(authStore.get().token);

/** A piece of a recording that runs. `account`: whose it is */
export const keepPiece = (account: string, model: string, piece: Blob): Promise<void> =>
  inTurn(async () => {
    if (isHere(account)) await keepFile(soundPlace, soundFile(uuid(), model, piece), piece);
  });

/** All of it, in place of its pieces. */
export const keepWhole = (account: string, id: string, model: string, sound: Blob): Promise<void> =>
  inTurn(async () => {
    const file = soundFile(id, model, sound);
    if (isHere(account)) await keepInstead(soundPlace, file, sound, () => isHere(account));
  });

export const dropSound = (): Promise<void> =>
  inTurn(() =>
    dropFiles(
      soundPlace,
      keptFiles(soundPlace).map(({ id }) => id),
    ),
  );

/** What a page before this one recorded and did not bring into words; null: nothing. */
export const soundLeft = async (): Promise<{ sound: Blob; model: string; key: string } | null> => {
  await writing;
  const files = keptFiles(soundPlace);
  const [first] = files;
  if (!first) return null;
  const sounds = await Promise.all(files.map(({ id }) => bytesOf(id)));
  const there = sounds.filter((sound) => sound !== undefined);
  if (there.length === 0) {
    await dropSound();
    toast('上次的录音没能留在这台设备上，请再说一次', 'error');
    return null;
  }
  return { sound: await joinSounds(there), model: first.note ?? '', key: first.id };
};
