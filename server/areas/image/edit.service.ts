import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { imageRequest } from '#contract/chat.ts';
import type { Parsed } from '#contract/calls.ts';
import type { ImageInfo, ImageMethod } from '#contract/gallery.ts';
import type { ImageAbility, ImageParameters, ImageTask, ListedImage } from '#contract/image.ts';
import { taskNames } from '#contract/image-family.ts';
import type { Job } from '#contract/job.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { beginJob, repeatedJob, requireRoomForJob } from '#server/jobs/job.service.ts';
import type { FileService } from '../file/file.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedImageModel } from '../model/resolved-model.ts';
import { requireUsable } from '../model/usable.ts';
import { costOf, holdFor } from './image-hold.ts';
import { abilityFor, planImages, type ImagePlan } from './image-plan.ts';
import { imageLivesMs } from './image-work.ts';
import {
  imageAddress,
  requireImage,
  viewerOf,
  type ImageRow,
  type ImageUser,
} from './images.service.ts';

/** What is to be made of one image. */
interface Wish {
  task: ImageTask;
  prompt: string;
  parameters: ImageParameters;
  n?: number;
  strength?: number;
}

interface Asked {
  image_id: number;
  request_id?: string | undefined;
  painter?: string | undefined;
}

const editPrompt = { min: limits.imageEditPrompt.min, max: limits.imageEditPrompt.max };

/** Words of an edit are 2 to 512 characters (document 2 §5). */
const requireWords = (prompt: string): void => {
  const text = `长度在 ${editPrompt.min} 到 ${editPrompt.max} 个字符`;
  if (prompt === '') throw new Refusal('bad_input', 'prompt：请填写修改图片的提示内容');
  if (prompt.length < editPrompt.min) throw new Refusal('prompt_too_short', text);
  if (prompt.length > editPrompt.max) throw new Refusal('prompt_too_long', text);
};

const methodTasks = {
  upscale: 'upscale',
  removeBg: 'remove-bg',
  editBg: 'edit-bg',
  variations: 'vary',
  edit: 'edit',
} as const satisfies Partial<Record<ImageMethod, ImageTask>>;

/** How many images a method makes where nobody says so. */
const usualCount = (task: ImageTask): number =>
  task === 'edit' || task === 'vary' ? limits.imageEditCount : 1;

interface EditDeps {
  models: Pick<ModelService, 'usable' | 'findImage'>;
  files: Pick<FileService, 'takeImages' | 'requireRoom'>;
}

const isVip = async (db: Executor, userId: number): Promise<boolean> =>
  (await viewerOf(db, userId))?.vip === 1;

/**
 * Models that can do it, in the order that they are taken: the image's own, then free ones, and
 * of those a service before what is built in.
 */
const withAbility = async (
  { models }: Pick<EditDeps, 'models'>,
  db: Executor,
  ability: ImageAbility,
  own: string,
  user: ImageUser,
): Promise<ResolvedImageModel[]> => {
  const listed = (await models.usable(db, user))
    .filter(({ type }) => type === modelTypes.image)
    .sort(
      (a, b) =>
        Number(b.name === own) - Number(a.name === own) ||
        Number(a.factor > 0) - Number(b.factor > 0) ||
        Number(a.built_in) - Number(b.built_in),
    );
  const found = [];
  for (const { name } of listed) {
    const model = await models.findImage(db, name);
    if (model?.image.abilities.includes(ability)) found.push(model);
  }
  return found;
};
const able = (
  deps: Pick<EditDeps, 'models'>,
  db: Executor,
  task: ImageTask,
  own: string,
  user: ImageUser,
) => {
  const ability = abilityFor[task];
  return ability === undefined ? Promise.resolve([]) : withAbility(deps, db, ability, own, user);
};

const modelFor = async (
  deps: Pick<EditDeps, 'models'>,
  db: Executor,
  wish: Wish,
  { painter }: Asked,
  image: ImageRow,
  user: ImageUser,
): Promise<ResolvedImageModel> => {
  if (painter !== undefined) {
    const model = await deps.models.findImage(db, painter);
    if (!model) throw new Refusal('model_unavailable');
    return model;
  }
  const [first] = await able(deps, db, wish.task, image.model, user);
  if (!first) throw new Refusal('job_unsuitable', '没有能这样做的绘画服务');
  return first;
};

const planFor = (
  image: ImageRow,
  { task, prompt, ...wishes }: Wish,
  model: ResolvedImageModel,
  guest: boolean,
) =>
  planImages(
    {
      task,
      human: prompt,
      request: z.parse(imageRequest, {
        n: usualCount(task),
        base_image: imageAddress(image),
        strength: limits.strength.otherwise,
        ...wishes,
      }),
      translateWith: { model: '', guest },
    },
    model,
  );

/** Begins the work: the job, its entry in the queue and the hold at once. */
const begin = (
  deps: EditDeps,
  db: Executor,
  asked: Asked,
  wish: Wish,
  user: ImageUser,
): Promise<{ job: Job; images: ListedImage[] }> =>
  inTransaction(db, async (tx: Transaction) => {
    const image = await requireImage(tx, asked.image_id, user, 'use');
    const requestId = asked.request_id ?? randomUUID();
    const subject = { kind: 'image', id: image.id } as const;
    const repeated = await repeatedJob(tx, requestId, user.id, subject);
    if (repeated) return { job: repeated, images: [] };
    const model = await modelFor(deps, tx, wish, asked, image, user);
    await requireUsable(tx, model, user);
    const plan = planFor(image, wish, model, user.guest);
    const { bg_image: background } = plan.parameters;
    await deps.files.takeImages(tx, [plan.baseImage, ...(background ? [background] : [])]);
    await requireRoomForJob(tx, user.id);
    await deps.files.requireRoom(tx, user);
    const { holdId, heldTokens } = await holdFor(tx, plan, model, {
      id: user.id,
      vip: await isVip(tx, user.id),
      reference: `job:${requestId}`,
    });
    const title = [taskNames[wish.task], wish.prompt || image.prompt].filter(Boolean).join(' · ');
    const job = await beginJob(tx, {
      uuid: requestId,
      userId: user.id,
      kind: 'image',
      title,
      model: model.name,
      subject,
      input: { ...plan, source: null } satisfies ImagePlan,
      holdId,
      heldTokens,
      livesMs: imageLivesMs,
    });
    return { job, images: [] };
  });

/**
 * What a person may do with an image, by which model and for how much: with one of theirs all
 * that some service can, with others' no more than to have it put into words.
 */
const toolsFor = async (
  deps: Pick<EditDeps, 'models'>,
  db: Executor,
  image: ImageRow,
  user: ImageUser,
): Promise<ImageInfo['tools']> => {
  const tools: ImageInfo['tools'] = [];
  const [looker] = await withAbility(deps, db, 'interrogate', '', user);
  if (looker)
    tools.push({
      method: 'interrogate',
      model: looker.name,
      model_label: looker.label,
      n: 1,
      tokens: 0,
    });
  if (image.userId !== user.id) return tools;
  const vip = await isVip(db, user.id);
  for (const [method, task] of Object.entries(methodTasks)) {
    const [model] = await able(deps, db, task, image.model, user);
    if (!model) continue;
    const wish = {
      task,
      prompt: '',
      parameters:
        task === 'edit'
          ? { mask: { left: 0, top: 0, width: 1, height: 1 } }
          : task === 'edit-bg'
            ? { bg_color: '#ffffff' }
            : {},
    };
    const plan = planFor(image, wish, model, user.guest);
    tools.push({
      method: method as ImageMethod,
      model: model.name,
      model_label: model.label,
      n: plan.n,
      tokens: costOf(plan, model, vip),
    });
  }
  return tools;
};

/** Changes one image, as a job: the calls of the page and the tool of a chat begin it here. */
export const createEditService = (deps: EditDeps) => ({
  upscale: (db: Executor, input: Parsed<'upscaleImage'>, user: ImageUser) => {
    const upscaler = input.model ? { upscaler: input.model } : {};
    const parameters = { resize: input.resize, ...upscaler };
    return begin(deps, db, input, { task: 'upscale', prompt: '', parameters }, user);
  },

  removeBackground: (db: Executor, input: Parsed<'removeImageBackground'>, user: ImageUser) =>
    begin(deps, db, input, { task: 'remove-bg', prompt: '', parameters: {} }, user),

  editBackground: (db: Executor, input: Parsed<'editImageBackground'>, user: ImageUser) => {
    const colour = input.bg_color ?? '';
    if (colour !== '' && !/^#[0-9a-f]{6}$/i.test(colour))
      throw new Refusal('bad_input', 'bg_color：颜色应写作 #rrggbb');
    const background = input.bg_image ?? '';
    const parameters = {
      ...(colour === '' ? {} : { bg_color: colour }),
      ...(background === '' ? {} : { bg_image: background }),
      ...(input.mask ? { mask: input.mask } : {}),
    };
    return begin(deps, db, input, { task: 'edit-bg', prompt: '', parameters }, user);
  },

  edit: async (db: Executor, input: Parsed<'editImage'>, user: ImageUser) => {
    const prompt = input.prompt.trim();
    const whole = input.method === 'variations';
    const { n, strength, mask, brush, brush_inverted: inverted } = input;
    // Of a variation without words those count that the image was drawn from.
    if (!whole || prompt !== '') requireWords(prompt);
    if (!whole && !mask) throw new Refusal('bad_input', 'mask：请框选要修改的区域');
    const image = await requireImage(db, input.image_id, user, 'use');
    const parameters = whole
      ? {}
      : {
          ...(mask ? { mask } : {}),
          ...(brush ? { brush } : {}),
          ...(inverted ? { brush_inverted: true } : {}),
        };
    const wish: Wish = {
      task: whole ? 'vary' : 'edit',
      prompt: prompt === '' ? image.prompt : prompt,
      parameters,
      ...(n === undefined ? {} : { n }),
      ...(strength === undefined ? {} : { strength }),
    };
    return begin(deps, db, input, wish, user);
  },

  /** What such an edit of an own image takes, and of which model. @throws Refusal */
  async quote(
    db: Executor,
    asked: Pick<Asked, 'image_id'>,
    wish: { task: ImageTask; prompt: string },
    user: ImageUser,
  ): Promise<{ label: string; tokens: number }> {
    const image = await requireImage(db, asked.image_id, user, 'use');
    const whole = { ...wish, n: 1, parameters: {} };
    const model = await modelFor(deps, db, whole, asked, image, user);
    await requireUsable(db, model, user);
    const plan = planFor(image, whole, model, user.guest);
    return { label: model.label, tokens: costOf(plan, model, await isVip(db, user.id)) };
  },

  toolsFor: (db: Executor, image: ImageRow, user: ImageUser) => toolsFor(deps, db, image, user),
});

export type EditService = ReturnType<typeof createEditService>;
