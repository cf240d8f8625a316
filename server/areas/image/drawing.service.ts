import * as z from 'zod/mini';
import { wholeNumber } from '#contract/call.ts';
import type { Parsed } from '#contract/calls.ts';
import { toldSize } from '#contract/image-size.ts';
import type { Job } from '#contract/job.ts';
import {
  addressesOf,
  lockImages,
  offeredActions,
  startImages,
  taskOf,
} from '../chat/image-messages.service.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import type { FileService } from '../file/file.service.ts';
import { sizeCode } from '#server/http/documented.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { beginJob, openJobsOf, repeatedJob, requireRoomForJob } from '#server/jobs/job.service.ts';
import { requireTrained } from '../train/styles.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { payable } from '../ledger/ledger.service.ts';
import { requireUsable } from '../model/usable.ts';
import { imageLivesMs } from './image-work.ts';
import { holdFor } from './image-hold.ts';
import { planImages, requestOf, type ImagePlan } from './image-plan.ts';
import { requireImage, seenImage } from './images.service.ts';

/** A begun job, and what is drawn where that is not what was asked for. */
interface Begun {
  job: Job;
  size?: string;
  notice?: string;
}

/** A size as models list them becomes the code that is nearest to it. */
const sizeCodeOf = (size: number | string | undefined): number | undefined =>
  typeof size === 'string' ? z.parse(wholeNumber(0, 20), sizeCode(size)) : size;

export const createDrawing = (deps: {
  models: Pick<ModelService, 'findImage'>;
  files: Pick<FileService, 'takeImages' | 'requireRoom'>;
}) => {
  /** What a service calls the own image that an action or a variation starts from. */
  const sourceOf = async (
    tx: Transaction,
    plan: Omit<ImagePlan, 'source'>,
    user: Identity,
  ): Promise<ImagePlan['source']> => {
    const { image_id: imageId, action } = plan.parameters;
    if (plan.task !== 'action') return null;
    if (imageId === undefined || !action)
      throw new Refusal('bad_input', 'parameters.action：请选择要做什么');
    const image = await requireImage(tx, imageId, user, 'use');
    const source = image.remote as ImagePlan['source'];
    // A service knows buttons of everybody's works: only those that were offered are pressed.
    const offered = image.historyId === null ? [] : await offeredActions(tx, image.historyId);
    if (!source || !offered.some(({ hash }) => hash === action.hash))
      throw new Refusal('job_unsuitable');
    return source;
  };

  return {
    /** Begins the work on a message's images: the job, its entry in the queue and the hold at once. */
    generate(db: Executor, input: Parsed<'generateImage'>, user: Identity): Promise<Begun> {
      return inTransaction(db, async (tx) => {
        const { message, session } = await lockImages(tx, input.history_id, user);
        const subject = { kind: 'message', id: message.id } as const;
        const repeated = await repeatedJob(tx, input.request_id, user.id, subject);
        if (repeated) return { job: repeated };
        if ((await openJobsOf(tx, { subject: 'message', id: message.id })).length > 0)
          throw new Refusal('session_busy', '这条消息的图片正在画');
        if (message.state === 'done')
          throw new Refusal('session_unsuitable', '这条消息已经画好了，再画一次请重新发送');
        if (input.model !== undefined && input.model !== session.model)
          throw new Refusal('bad_input', 'model：应与会话的模型相同');
        const model = await deps.models.findImage(tx, session.model);
        if (!model) throw new Refusal('model_unavailable');
        await requireUsable(tx, model, user);
        const paysNothing = user.guest || (session.ownerVip && !model.vipExcluded);
        const left = paysNothing ? null : await payable(tx, user.id);
        const request = requestOf(
          message.request?.image,
          { ...input, size: sizeCodeOf(input.size) },
          model,
          left,
        );
        const plan = planImages(
          {
            task: taskOf(message.request),
            human: message.human,
            request,
            translateWith: { model: input.translate_model ?? '', guest: user.guest },
          },
          model,
        );
        // Its checkpoint may cost though the model does not.
        await requireUsable(tx, plan.price, user);
        await requireTrained(
          tx,
          (plan.parameters.lora ?? []).map(({ key }) => key),
          user.id,
        );
        const named = { ...request, base_image: plan.baseImage, parameters: plan.parameters };
        await deps.files.takeImages(tx, addressesOf(named));
        const source = await sourceOf(tx, plan, user);
        // One that is gone by now, or never was the person's to see, is no reason not to draw.
        const inspired =
          request.inspired_by === undefined
            ? null
            : await seenImage(tx, request.inspired_by, user.id);
        await requireRoomForJob(tx, user.id);
        await deps.files.requireRoom(tx, user);
        if (message.state !== 'none') await startImages(tx, message.id, model.name);
        const payer = {
          id: user.id,
          vip: session.ownerVip,
          reference: `job:${input.request_id}`,
        };
        const { holdId, heldTokens } = await holdFor(tx, plan, model, payer);
        const job = await beginJob(tx, {
          uuid: input.request_id,
          userId: user.id,
          kind: 'image',
          title: plan.words.prompt || session.prompt,
          model: model.name,
          subject,
          message: { sessionId: session.id, historyId: message.id },
          input: {
            ...plan,
            source,
            ...(inspired && { inspiredBy: inspired.id }),
          } satisfies ImagePlan,
          holdId,
          heldTokens,
          livesMs: imageLivesMs,
        });
        return { job, ...toldSize(input.size, plan) };
      });
    },
  };
};
