import type { Handlers } from '#server/http/handlers.ts';
import type { SpeechService } from './speech.service.ts';

export const createSpeechHandlers = (
  service: SpeechService,
): Pick<Handlers, 'speechToText' | 'textToSpeech'> => ({
  speechToText: async ({ model }, { db, user, file }) => {
    const named = model ?? file.fields?.['model']?.slice(0, 100);
    const heard = await service.hear(db, { model: named, data: file.data }, user);
    return () => Promise.resolve(heard);
  },

  textToSpeech: async (input, { db, user, reply }) => {
    const { mime, stream, size } = await service.speak(db, input, user);
    await reply
      .type(mime)
      .headers({
        ...(size !== null && { 'content-length': size }),
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      .send(stream);
  },
});
