import { madeByCall } from '../file/made-files.ts';
import type { FileService } from '../file/file.service.ts';
import { telling } from '../tool/job-tool.ts';
import { textOf, type Tool } from '../tool/tool.ts';
import type { SpeechService } from './speech.service.ts';

/** A reading may take as long as one that the page asks for, s. */
const seconds = 300;

const soundOf = (name: string): 'audio/mpeg' | 'audio/wav' =>
  name.endsWith('.wav') ? 'audio/wav' : 'audio/mpeg';

/** Reads words aloud as the page does, and keeps the sound as a file of the answer. */
export const createSpeak = ({
  speech,
  files,
}: {
  speech: Pick<SpeechService, 'quote' | 'say'>;
  files: Pick<FileService, 'keepToolFile'>;
}): Tool => ({
  label: '朗读',
  seconds,
  // What was kept is found by the name of the call; what was not kept took nothing.
  again: true,
  perReply: 3,
  spec: {
    name: 'speak',
    description: '把文字念成声音给用户听',
    parameters: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    },
  },
  asks: (given, { db, user }) =>
    telling(async () => {
      const text = textOf(given, 'text', 20_000);
      const { label, tokens, length } = await speech.quote(db, text, user);
      return tokens === 0
        ? null
        : `用「${label}」念 ${length} 个字，约 ${tokens} tokens：\n${text.slice(0, 300)}`;
    }),
  run: (given, { db, user, key, signal }) =>
    telling(async () => {
      const text = textOf(given, 'text', 20_000);
      let took = '';
      if (!(await madeByCall(db, key))) {
        const spent = await speech.say(db, { text, signal }, user, async (tx, { data, mime }) => {
          signal.throwIfAborted();
          const name = `朗读.${mime === 'audio/wav' ? 'wav' : 'mp3'}`;
          await files.keepToolFile(tx, { name, data, call: key }, user);
        });
        if (spent > 0) took = `，花了 ${spent} tokens`;
      }
      const made = await madeByCall(db, key);
      return {
        text: made ? `念好了${took}，用户可以在卡片上听。` : '声音已经不在了。',
        files: made ? [{ ...made, sound: soundOf(made.name) }] : [],
      };
    }),
});
