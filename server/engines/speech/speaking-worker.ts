import { serveThread, type ThreadIo } from '../thread-work.ts';
import { openSoundWriter } from './sound-writer.ts';
import type { SpeakJob, SpeakTask } from './speak-task.ts';
import { openEspeak, openSherpaVoice, type Voice } from './voices.ts';

/** Speaks, so that nothing else in the server stands still meanwhile. */

/** By the folder of its model; empty: espeak-ng. */
const opened = new Map<string, Promise<Voice>>();

const voiceOf = (folder: string): Promise<Voice> => {
  const known = opened.get(folder);
  if (known) return known;
  const voice = folder === '' ? openEspeak() : openSherpaVoice(folder);
  opened.set(folder, voice);
  voice.catch(() => opened.delete(folder));
  return voice;
};

const speak = async (task: SpeakTask, io: ThreadIo): Promise<number> => {
  const { sampleRate, say } = await voiceOf(task.folder);
  let bytes = 0;
  const writer = await openSoundWriter(sampleRate, (part) => {
    bytes += part.length;
    io.part(part);
  });
  try {
    for (const piece of task.pieces) {
      await writer.add(await say(piece, task));
      await io.turn();
    }
    await writer.end();
  } finally {
    writer.close();
  }
  return bytes;
};

serveThread<SpeakJob>(speak);
