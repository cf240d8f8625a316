import type { FastifyReply } from 'fastify';
import { projectTypes, trainTexts } from '../../../contract/train-limits.ts';
import type { Handlers } from '../../http/handlers.ts';
import { disposition } from '../../http/disposition.ts';
import { changeProject, managedProjects } from './manage-train.service.ts';
import type { TrainService } from './train.service.ts';

type TrainHandlers = Pick<
  Handlers,
  | 'trainModelList'
  | 'translateModelList'
  | 'trainModel'
  | 'trainEngines'
  | 'newTrainModel'
  | 'setTrainModel'
  | 'setLoraImages'
  | 'delTrainModel'
  | 'packModel'
  | 'downloadLora'
  | 'trainFileList'
  | 'trainQuote'
  | 'startTraining'
  | 'retryTrainFile'
  | 'delTrainFile'
  | 'uploadTrainFile'
  | 'trainUploadState'
  | 'trainLog'
  | 'trainFileContent'
  | 'segmentList'
  | 'saveSegment'
  | 'adminTrainList'
  | 'setTrainProject'
  | 'delTrainProject'
>;

const send = async (
  reply: FastifyReply,
  file: { data: Buffer; name: string; mime: string },
): Promise<void> => {
  await reply
    .headers({
      'content-type': file.mime,
      'content-disposition': disposition(file.name),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-store',
    })
    .send(file.data);
};

export const createTrainHandlers = (
  service: TrainService,
  stopJob: (id: number) => Promise<unknown>,
): TrainHandlers => ({
  adminTrainList: (input, { db }) => managedProjects(db, input),

  setTrainProject: async (input, { db, noteAct }) => {
    await changeProject(db, input, noteAct);
    return {};
  },

  delTrainProject: async ({ id }, { db, noteAct, afterCommit }) => {
    const { keys, jobs, name, userId } = await service.removeAny(db, id);
    noteAct({ subject: `train:${id}`, from: { name, user_id: userId } });
    afterCommit(async () => {
      for (const job of jobs) await stopJob(job);
      await service.takeAway(keys);
    });
    return {};
  },

  trainModelList: (input, { db, user }) => {
    const types =
      input.type === undefined ? [projectTypes.knowledge, projectTypes.lora] : [input.type];
    return service.list(db, input, types, user);
  },

  translateModelList: (input, { db, user }) =>
    service.list(db, input, [projectTypes.translation, projectTypes.packed], user),

  trainModel: async ({ model_id: id }, { db, user }) => ({
    model: await service.one(db, id, user),
  }),

  trainEngines: (_input, { db }) => service.engines(db),

  newTrainModel: async (input, { db, user }) => ({ model: await service.create(db, input, user) }),

  setTrainModel: async (input, { db, user }) => ({ model: await service.change(db, input, user) }),

  setLoraImages: async (input, { db, user }) => ({
    model: await service.setImages(db, input, user),
  }),

  delTrainModel: async ({ id }, { db, user, afterCommit }) => {
    const { keys, jobs } = await service.remove(db, id, user);
    afterCommit(async () => {
      for (const job of jobs) await stopJob(job);
      await service.takeAway(keys);
    });
    return {};
  },

  packModel: ({ model_id: id }, { db, user }) => service.pack(db, id, user),

  downloadLora: async ({ model_id: id }, { db, user, reply }) =>
    send(reply, await service.style(db, id, user)),

  trainFileList: (input, { db, user }) => service.files(db, input, user),

  trainQuote: async ({ model_id: id }, { db, user }) => {
    const quote = await service.quote(db, id, user);
    return () => Promise.resolve(quote);
  },

  startTraining: async ({ model_id: id }, { db, user }) => ({
    model: await service.start(db, id, user),
  }),

  retryTrainFile: async ({ fileId }, { db, user }) => {
    await service.retry(db, fileId, user);
    return { message: trainTexts.retrying };
  },

  delTrainFile: async ({ file_id: id }, { db, user, afterCommit }) => {
    const keys = await service.removeFile(db, id, user);
    afterCommit(() => service.takeAway(keys));
    return {};
  },

  uploadTrainFile: (input, { file, user }) => service.upload(input, file, user),

  trainUploadState: ({ upload_id: id }, { db, user }) => service.uploadState(db, id, user),

  trainLog: (input, { db, user }) => service.log(db, input, user),

  trainFileContent: async ({ key }, { db, reply }) => send(reply, await service.content(db, key)),

  segmentList: (input, { db, user }) => service.segments(db, input, user),

  saveSegment: async (input, { db, user }) => ({ changed: await service.correct(db, input, user) }),
});
