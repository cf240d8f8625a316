import * as z from 'zod/mini';
import { imageRequest } from '#contract/chat.ts';
import type { ImageParameters, ImageTask } from '#contract/image.ts';
import { closestSize, imageSizes } from '#contract/image-size.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { beginJob, requireRoomForJob } from '#server/jobs/job.service.ts';
import type { FileService } from '../file/file.service.ts';
import type { ResolvedImageModel } from '../model/resolved-model.ts';
import { costOf } from './image-hold.ts';
import { abilityFor, planImages, type ImagePlan } from './image-plan.ts';
import { imageLivesMs } from './image-work.ts';

/** Images that a program asks for, for an account and outside of any message. */
export interface AccountWish {
  task: ImageTask;
  prompt: string;
  n?: number | undefined;
  /** Its code, or as `1024x768`. */
  size?: number | string | undefined;
  /** An own image's address, or one of the web; empty: none. */
  baseImage: string;
  parameters: ImageParameters;
}

/** The code of the size that is nearest to `WxH`; undefined for anything else. */
const sizeCode = (size: number | string | undefined): number | undefined => {
  if (typeof size !== 'string') return size;
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size) ?? [];
  return width === undefined || height === undefined
    ? undefined
    : closestSize(imageSizes, Number(width), Number(height))?.code;
};

/** What is to be made, and what it costs at most. @throws Refusal job_unsuitable, bad_input */
export const planAccountImages = (
  wish: AccountWish,
  model: ResolvedImageModel,
): { plan: ImagePlan; cost: number } => {
  const size = sizeCode(wish.size);
  const request = z.parse(imageRequest, {
    n: wish.n ?? 1,
    base_image: wish.baseImage,
    parameters: wish.parameters,
    ...(size === undefined ? {} : { size }),
  });
  const plan = planImages(
    {
      task: wish.task,
      human: wish.prompt,
      request,
      translateWith: { model: '', guest: false },
    },
    model,
  );
  return { plan: { ...plan, source: null }, cost: costOf(plan, model, false) };
};

export const canMake = (model: ResolvedImageModel, task: ImageTask): boolean => {
  const ability = abilityFor[task];
  return ability !== undefined && model.image.abilities.includes(ability);
};

/** Begins the work, for which a hold was made; `also` runs in the same transaction. */
export const beginAccountImages = (
  files: Pick<FileService, 'takeImages' | 'requireRoom'>,
  db: Database,
  work: {
    uuid: string;
    plan: ImagePlan;
    model: ResolvedImageModel;
    title: string;
    holdId: string | null;
    cost: number;
  },
  user: Identity,
  also: (tx: Transaction) => Promise<void>,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { uuid, plan, model, title, holdId, cost } = work;
    const background = plan.parameters.bg_image;
    await files.takeImages(
      tx,
      [plan.baseImage, background ?? ''].filter((url) => url !== ''),
    );
    await requireRoomForJob(tx, user.id);
    await files.requireRoom(tx, user);
    await beginJob(tx, {
      uuid,
      userId: user.id,
      kind: 'image',
      title,
      model: model.name,
      subject: { kind: 'account', id: user.id },
      input: plan,
      holdId,
      heldTokens: cost,
      livesMs: imageLivesMs,
    });
    await also(tx);
  });

/** @throws Refusal bad_input for what is no size */
export const requireSize = (size: string | null | undefined): string | undefined => {
  if (size === undefined || size === null || size === 'auto') return undefined;
  if (!/^\d{2,5}x\d{2,5}$/.test(size))
    throw new Refusal('bad_input', 'size：应写作 1024x1024 的样子');
  return size;
};
