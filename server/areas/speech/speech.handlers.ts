import type { FastifyBaseLogger } from 'fastify';
import type { Handlers } from '#server/http/handlers.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { ModelService } from '../model/model.service.ts';
import { createSpeechService } from './speech.service.ts';

export const createSpeechHandlers = (deps: {
  models: ModelService;
  storage: Storage;
  log: FastifyBaseLogger;
  room: number;
}): Pick<Handlers, 'speechToText' | 'textToSpeech'> => {
  const service = createSpeechService(deps);
  return {
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
  };
};
