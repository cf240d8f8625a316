import type { ImageTask } from '#contract/image.ts';
import type { FileService } from '../file/file.service.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import type { ModelService } from '../model/model.service.ts';
import { jobOfCall, telling, tookText } from '../tool/job-tool.ts';
import { textOf, ToolFailure, type Tool } from '../tool/tool.ts';
import { imageFiles, noImages } from './draw-tool.ts';
import { createEditService } from './edit.service.ts';
import { imageLivesMs } from './image-work.ts';
import { pictureArgument, pictureOfTalk } from './pictures-of-talk.ts';

/** What can be done with a picture, as it is called in a call and on the page. */
const ways = {
  change: { task: 'vary', label: '改图' },
  upscale: { task: 'upscale', label: '高清放大' },
  remove_background: { task: 'remove-bg', label: '抠图' },
} as const satisfies Record<string, { task: ImageTask; label: string }>;
type Way = keyof typeof ways;

const wayOf = ({ way = 'change' }: Record<string, unknown>): Way => {
  const found = (Object.keys(ways) as Way[]).find((each) => each === way);
  if (!found) throw new ToolFailure(`way 应是 ${Object.keys(ways).join('、')} 之一`);
  return found;
};

/** Changes a picture of the conversation by the work that the page changes images by. */
export const createEditImage = (deps: {
  models: Pick<ModelService, 'usable' | 'findImage'>;
  files: Pick<FileService, 'takeImages' | 'requireRoom'>;
  jobs: Pick<Jobs, 'cancel'>;
}): Tool => {
  const edits = createEditService(deps);
  const promptOf = (given: Record<string, unknown>, way: Way): string =>
    way === 'change' ? textOf(given, 'prompt', 512) : '';

  return {
    label: '改图',
    seconds: imageLivesMs / 1000,
    again: true,
    perReply: 4,
    spec: {
      name: 'edit_image',
      description: '改对话里的一张图片，直接显示',
      parameters: {
        type: 'object',
        properties: {
          prompt: { type: 'string', description: '改好后的整个画面；way 是 change 时要' },
          image: pictureArgument,
          way: { type: 'string', enum: Object.keys(ways) },
        },
      },
    },
    asks: (given, context) =>
      telling(async () => {
        const { db, user } = context;
        const way = wayOf(given);
        const prompt = promptOf(given, way);
        const { id } = await pictureOfTalk(given, context);
        const { task, label } = ways[way];
        const wish = { task, prompt };
        const quote = await edits.quote(db, { image_id: id }, wish, user);
        return quote.tokens === 0
          ? null
          : `用「${quote.label}」${label}（图片 ${id}），约 ${quote.tokens} tokens${prompt && `：\n${prompt}`}`;
      }),
    run: (given, context) =>
      telling(async () => {
        const { db, user, key } = context;
        const way = wayOf(given);
        const prompt = promptOf(given, way);
        const begin = async () => {
          const { id } = await pictureOfTalk(given, context);
          const asked = { image_id: id, request_id: key };
          if (way === 'upscale') return edits.upscale(db, { ...asked, resize: 2 }, user);
          if (way === 'remove_background') return edits.removeBackground(db, asked, user);
          return edits.edit(db, { ...asked, method: 'variations', prompt, n: 1 }, user);
        };
        const row = await jobOfCall(deps.jobs, context, begin, noImages);
        const made = await imageFiles(db, row.uuid, user.id);
        const numbers = made.flatMap(({ image }) => (image ? [`图片 ${image.id}`] : [])).join('、');
        return { text: `改好了（${numbers}）${tookText(row)}，已经显示给用户。`, files: made };
      }),
  };
};
