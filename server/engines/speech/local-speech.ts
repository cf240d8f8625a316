import path from 'node:path';
import { usualShelf } from '../local/catalogue.ts';
import { createLocalSpeakEngine } from './built-in-speak-engine.ts';
import { createLocalHearEngine } from './local-hear-engine.ts';
import type { HearEngine, SpeakEngine } from './speech-engine.ts';

interface Speech {
  video: null;
  hear: HearEngine;
  speak: SpeakEngine;
}

/** What hears and speaks with the models of the shelf, by their keys, which name their folders. */
export const createLocalSpeech = (folder: string): ((key: string) => Speech) => {
  const known = new Map<string, Speech>();
  return (key) => {
    const before = known.get(key);
    if (before) return before;
    const own = path.join(folder, path.basename(key));
    const called = '本机模型的文件夹';
    const voices = usualShelf.find((entry) => entry.key === key)?.voices;
    const made = {
      video: null,
      hear: createLocalHearEngine(own, called),
      speak: createLocalSpeakEngine(own, voices, called),
    };
    known.set(key, made);
    return made;
  };
};
