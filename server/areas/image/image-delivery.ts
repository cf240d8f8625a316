import { excerptOf } from '#common/markdown/digest.ts';
import type { ImageReply, MadeImage } from '#contract/image.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Transaction } from '#server/db/database.ts';
import { type ClaimedJob, type JobWork, messageOf } from '#server/jobs/job-kind.ts';
import { endMade, finishImages } from '../chat/image-messages.service.ts';
import { namedImage } from '../file/image-address.ts';
import { noteFailedUse, payForMade, release } from '../ledger/ledger.service.ts';
import { edits, ofAccount, ofImage, type Painted } from './image-job.ts';
import { keptParameters, priceOf, type ImagePlan } from './image-plan.ts';
import * as store from './image.store.ts';

/** What the images of a job were made from: its subject, or an own image that it names. */
const parentOf = async (tx: Transaction, job: ClaimedJob): Promise<number | null> => {
  if (ofImage(job)) return job.subject_id;
  const { baseImage, parameters } = job.input as ImagePlan;
  if (parameters.image_id !== undefined) {
    const image = await store.anyImage(tx, parameters.image_id);
    return image?.userId === job.user_id ? image.id : null;
  }
  const named = namedImage(baseImage);
  return named ? ((await store.ownOfKey(tx, named.key, job.user_id))?.id ?? null) : null;
};

/** What has no message, as what a program made, nobody but its owner sees. */
const withoutMessage = { sessionId: null, historyId: null, hidden: true };

/** Where its images belong: to the message, or as their parent does to a session that is there. */
const belonging = async (tx: Transaction, job: ClaimedJob, painted: Painted) => {
  if (ofAccount(job)) return withoutMessage;
  if (!ofImage(job)) return messageOf(job);
  const parent = await store.anyImage(tx, job.subject_id);
  const sessionId = parent?.sessionId ?? null;
  return {
    // What was said of the one is found with the other, unless new words were said.
    ...(painted.prompt === '' && parent ? { prompt: parent.prompt } : {}),
    sessionId: sessionId === null ? null : await store.livingSession(tx, sessionId),
    historyId: null,
    hidden: parent?.hidden ?? false,
  };
};

/** Takes what the images that were delivered cost; gives the tokens. */
const charge = (
  tx: Transaction,
  job: ClaimedJob,
  delivered: number,
  channelId: number,
): Promise<number> => {
  const plan = job.input as ImagePlan;
  return payForMade(tx, job, {
    type: sessionTypes.image,
    channelId,
    price: priceOf(plan.price, delivered),
    human: excerptOf(plan.human || job.title),
  });
};

type Place = Awaited<ReturnType<typeof belonging>>;

/** Makes the images their owner's. */
const keepImages = async (tx: Transaction, job: ClaimedJob, painted: Painted, place: Place) => {
  const plan = job.input as ImagePlan;
  const { channel, result } = painted;
  const remote =
    result.remote === null ? null : { channelId: channel.channelId, remote: result.remote };
  const parentId = await parentOf(tx, job);
  return store.insertImages(
    tx,
    painted.images.flatMap(({ kept }) =>
      kept
        ? [
            {
              userId: job.user_id,
              jobId: job.id,
              origin: edits.has(plan.task) ? ('edited' as const) : ('drawn' as const),
              parentId,
              how: parentId === null ? ('' as const) : plan.task,
              inspiredBy: plan.inspiredBy ?? null,
              ...kept,
              model: job.model,
              prompt: painted.prompt,
              ...place,
              parameters: keptParameters(plan.parameters),
              remote,
            },
          ]
        : [],
    ),
  );
};

/** Stores the images with their message, if they have one, and takes what they cost. */
const deliver = async (tx: Transaction, job: ClaimedJob, painted: Painted): Promise<number> => {
  const plan = job.input as ImagePlan;
  const { channel, result } = painted;
  const rows = await keepImages(tx, job, painted, await belonging(tx, job, painted));
  if (ofImage(job) || ofAccount(job)) return charge(tx, job, rows.length, channel.channelId);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const images = painted.images.map(({ kept, error }): MadeImage => {
    const row = kept && byKey.get(kept.key);
    return {
      id: row?.id ?? 0,
      uuid: row?.uuid ?? '',
      url: kept ? `/files/${kept.key}.png` : '',
      width: kept?.width ?? 0,
      height: kept?.height ?? 0,
      seed: kept?.seed ?? null,
      error,
    };
  });
  const reply: ImageReply = {
    images,
    actions: result.actions,
    prompt: painted.prompt,
    revised_prompt: result.revisedPrompt,
    engine: channel.label,
    parameters: keptParameters(plan.parameters),
    ...painted.size,
    ...(result.unread?.length ? { unread: [...result.unread] } : {}),
  };
  const spent = await charge(tx, job, rows.length, channel.channelId);
  await finishImages(tx, messageOf(job), { state: 'done', reply, deductTokens: spent });
  return spent;
};

/** Writes what became of a job, with its charge; gives how it ended after all. */
export const finishJob: JobWork<Painted>['finish'] = async (tx, job, end) => {
  if (end.state === 'error')
    await noteFailedUse(tx, job.user_id, { type: sessionTypes.image, model: job.model });
  if (ofImage(job) || ofAccount(job)) {
    if (end.state === 'done')
      return { state: 'done', deductTokens: await deliver(tx, job, end.result) };
    if (job.hold_id !== null) await release(tx, job.hold_id);
    return { state: end.state, deductTokens: 0 };
  }
  return endMade(tx, job, end, {
    deliver: (result) => deliver(tx, job, result),
    // Its message is gone, or it was stopped too late: what is paid is kept for whoever pays.
    charge: async (painted) => {
      const rows = await keepImages(tx, job, painted, withoutMessage);
      return charge(tx, job, rows.length, painted.channel.channelId);
    },
  });
};
