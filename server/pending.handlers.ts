import type { Handlers } from './http/handlers.ts';
import { Refusal } from './http/handlers.ts';

const pending = (): never => {
  throw new Refusal('unavailable');
};

/** Calls that are being built; each leaves this list with its handler. */
export const pendingHandlers = {
  // server/jobs
  jobList: pending,
  cancelJob: pending,
  jobEvents: pending,
  // server/image
  generateImage: pending,
  imageProgress: pending,
  controlnetDetect: pending,
  interrogateImage: pending,
  uploadedFiles: pending,
  privateImages: pending,
} satisfies Partial<Handlers>;
