import { type CodeName, codes } from '#contract/errors.ts';
import type { Job } from '#contract/job.ts';
import { type Handlers, Refusal } from '#server/http/handlers.ts';
import type { FileService } from '../file/file.service.ts';
import { jobNow } from '#server/jobs/job.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { createDrawing } from './drawing.service.ts';
import { createAnalysisService } from './analysis.service.ts';
import { createEditService } from './edit.service.ts';
import { declareImage, imagesOfJob, originsOf, ownImages } from './images.service.ts';

type ImageHandlers = Pick<
  Handlers,
  | 'generateImage'
  | 'imageProgress'
  | 'controlnetDetect'
  | 'interrogateImage'
  | 'upscaleImage'
  | 'removeImageBackground'
  | 'editImageBackground'
  | 'editImage'
  | 'uploadedFiles'
  | 'privateImages'
  | 'imageOrigins'
  | 'declareImage'
>;

/** A failed job as the refusal that the call of its own kind would be; what is known of it goes along. */
const failureOf = ({ error_code, error_message }: Job, told: unknown): Refusal => {
  const own = Object.entries(codes).find(
    ([, { code, http }]) => code === error_code && http === 200,
  );
  return new Refusal((own?.[0] as CodeName) ?? 'engine_failed', error_message || undefined, told);
};

export const createImageHandlers = (deps: {
  models: ModelService;
  files: FileService;
  prompts: Pick<PromptService, 'translate'>;
}): ImageHandlers => {
  const service = createDrawing(deps);
  const analysis = createAnalysisService({ ...deps, translate: deps.prompts.translate });
  const edits = createEditService(deps);
  return {
    generateImage: async (input, { db, user }) => ({
      ...(await service.generate(db, input, user)),
      images: [],
    }),

    imageProgress: async ({ request_id }, { db, user }) => {
      const { job, current_image } = await jobNow(db, request_id, user.id);
      const images = job.state === 'done' ? await imagesOfJob(db, job.uuid, user.id) : [];
      // All of it is done when the images are there.
      const progress = job.state === 'done' ? 1 : Math.min(job.progress, 0.99);
      // Behind the comma of a data URL stands the base64.
      const base64 = current_image.slice(current_image.indexOf(',') + 1);
      const result = { progress, current_image: base64 };
      const told = { result, progress, current_image, job, images };
      if (job.state === 'error') throw failureOf(job, told);
      return told;
    },

    upscaleImage: (input, { db, user }) => edits.upscale(db, input, user),
    removeImageBackground: (input, { db, user }) => edits.removeBackground(db, input, user),
    editImageBackground: (input, { db, user }) => edits.editBackground(db, input, user),
    editImage: (input, { db, user }) => edits.edit(db, input, user),
    controlnetDetect: async (input, { db, user }) => ({
      image_base64: await analysis.detect(db, input, user),
    }),

    interrogateImage: (input, { db, user }) => analysis.interrogate(db, input, user),

    uploadedFiles: ({ page }, { db, user }) => ownImages(db, user.id, page, true),

    imageOrigins: async ({ urls }, { db }) => ({ list: await originsOf(db, urls.split(',')) }),

    declareImage: async ({ url }, { db, user }) => ({
      made: await declareImage(db, deps.files, url, user),
    }),

    privateImages: ({ page }, { db, user }) => ownImages(db, user.id, page, false),
  };
};
