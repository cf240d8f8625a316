import type { Handlers } from '../http/handlers.ts';
import type { FileService } from '../file/file.service.ts';
import { jobNow } from '../jobs/job.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { createImageService } from './image.service.ts';
import { createLookService } from './look.service.ts';
import { listMade } from './made.service.ts';

type ImageHandlers = Pick<
  Handlers,
  | 'generateImage'
  | 'imageProgress'
  | 'controlnetDetect'
  | 'interrogateImage'
  | 'uploadedFiles'
  | 'privateImages'
>;

export const createImageHandlers = (deps: {
  models: ModelService;
  files: FileService;
}): ImageHandlers => {
  const service = createImageService(deps);
  const look = createLookService(deps);
  return {
    generateImage: async (input, { db, user }) => ({
      job: await service.generate(db, input, user),
    }),

    imageProgress: async ({ request_id }, { db, user }) => {
      const { job, current_image } = await jobNow(db, request_id, user.id);
      return { result: job.progress, current_image, job };
    },

    controlnetDetect: async (input, { db, user }) => ({
      image_base64: await look.detect(db, input, user),
    }),

    interrogateImage: (input, { db, user }) => look.interrogate(db, input, user),

    uploadedFiles: ({ page }, { db, user }) => deps.files.listImages(db, user.id, page),

    privateImages: ({ page }, { db, user }) => listMade(db, user.id, page),
  };
};
