import type { ToolFile } from '#contract/tool.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { beginJob, requireRoomForJob } from '#server/jobs/job.service.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import type { FileService } from '../file/file.service.ts';
import { canMake, planAccountImages } from './account-images.ts';
import { costOf, holdFor } from './image-hold.ts';
import { imageLivesMs } from './image-work.ts';
import { imagesOfJob } from './images.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { isUsable } from '../model/usable.ts';
import { jobOfCall, telling, tookText } from '../tool/job-tool.ts';
import { textOf, ToolFailure, type Tool, type ToolUser } from '../tool/tool.ts';

const most = 4;
const sizes: Readonly<Record<string, string>> = {
  square: '1024x1024',
  wide: '1216x832',
  tall: '832x1216',
};

const countOf = ({ count }: Record<string, unknown>): number => {
  if (count === undefined || count === null) return 1;
  const number = typeof count === 'string' ? Number(count) : count;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > most)
    throw new ToolFailure(`count 应是 1 到 ${most} 的整数`);
  return number;
};

export const noImages = '图片生成失败，没有扣费';

/** What a work made, as a call of a tool has it. */
export const imageFiles = async (
  db: Executor,
  jobUuid: string,
  userId: number,
): Promise<ToolFile[]> =>
  (await imagesOfJob(db, jobUuid, userId)).map(({ id, url, size }, at) => {
    const [width = 0, height = 0] = size.split('x').map(Number);
    return { name: `图片 ${at + 1}.png`, url, size: 0, image: { id, width, height } };
  });

export interface DrawDeps {
  models: Pick<ModelService, 'findImage' | 'defaultImageModel'>;
  files: Pick<FileService, 'takeImages' | 'requireRoom'>;
  jobs: Pick<Jobs, 'cancel'>;
}

/**
 * Draws by the work that sessions of images are drawn by: it waits its turn, is held and paid as
 * those are, and its images lie with its person's others.
 */
export const createDraw = (deps: DrawDeps): Tool => {
  const { models, files, jobs } = deps;

  const planned = async (db: Executor, given: Record<string, unknown>, user: ToolUser) => {
    const prompt = textOf(given, 'prompt', 1500);
    const n = countOf(given);
    const shape = typeof given['shape'] === 'string' ? given['shape'] : 'square';
    // What its person draws with; else what a session of images gets.
    const saved = user.painter ? await models.findImage(db, user.painter) : null;
    for (const model of [saved, await models.defaultImageModel(db, user)]) {
      if (!model || !canMake(model, 'txt2img') || !(await isUsable(db, model, user))) continue;
      const wish = { task: 'txt2img', prompt, n, size: sizes[shape] ?? sizes['square'] } as const;
      const { plan } = planAccountImages({ ...wish, baseImage: '', parameters: {} }, model);
      if (!(await isUsable(db, { ...model, ...plan.price }, user))) continue;
      return { model, plan, prompt, cost: costOf(plan, model, user.vip === true) };
    }
    throw new ToolFailure('没有可以用的绘画模型');
  };

  return {
    label: '画图',
    seconds: imageLivesMs / 1000,
    again: true,
    perReply: 4,
    spec: {
      name: 'draw',
      description: '画图，直接显示给用户',
      parameters: {
        type: 'object',
        properties: {
          prompt: { type: 'string' },
          count: { type: 'integer', minimum: 1, maximum: most },
          shape: { type: 'string', enum: Object.keys(sizes) },
        },
        required: ['prompt'],
      },
    },
    asks: (given, { db, user }) =>
      telling(async () => {
        const { model, plan, prompt, cost } = await planned(db, given, user);
        return cost === 0
          ? null
          : `用「${model.label}」画 ${plan.n} 张图，约 ${cost} tokens：\n${prompt}`;
      }),
    run: (given, { db, user, key, signal }) =>
      telling(async () => {
        const begin = async () => {
          const { model, plan, prompt } = await planned(db, given, user);
          await inTransaction(db, async (tx) => {
            await requireRoomForJob(tx, user.id);
            await files.requireRoom(tx, user);
            const payer = { id: user.id, vip: user.vip === true, reference: `tool:${key}` };
            const { holdId, heldTokens } = await holdFor(tx, plan, model, payer);
            await beginJob(tx, {
              uuid: key,
              userId: user.id,
              kind: 'image',
              title: prompt,
              model: model.name,
              subject: { kind: 'account', id: user.id },
              input: plan,
              holdId,
              heldTokens,
              livesMs: imageLivesMs,
            });
          });
        };
        const row = await jobOfCall(jobs, { db, user, key, signal }, begin, noImages);
        const made = await imageFiles(db, row.uuid, user.id);
        return {
          text: `画好了 ${made.length} 张图片${tookText(row)}，已经显示给用户。`,
          files: made,
        };
      }),
  };
};
