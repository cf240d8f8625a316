import { workInThread } from '../built-in-canvas/canvas-threads.ts';
import { ImageEngineError } from '../image-engine.ts';
import { TrainingError, type TrainingEngine } from './training-engine.ts';

/** The statistics of a hand's colours and surface, which 内置画板 applies. It is no neural network. */
export const builtInStyle: TrainingEngine = {
  label: '',
  paid: false,
  train: async ({ images, batch, epochs }, io) => {
    try {
      const answer = await workInThread(
        { kind: 'measure', images: images.map(({ data }) => new Uint8Array(data)), batch, epochs },
        0,
        io.signal,
        io.progress,
      );
      if (answer.kind !== 'measured') throw new TrainingError('训练中断了', { retriable: true });
      return { profile: answer.profile, artifact: null };
    } catch (error) {
      if (!(error instanceof ImageEngineError)) throw error;
      throw new TrainingError(error.message, { retriable: error.retriable, cause: error });
    }
  },
};
