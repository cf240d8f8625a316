import type { FastifyReply } from 'fastify';
import { projectTypes, trainLimits, trainTexts } from '#contract/train-limits.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { disposition } from '#server/http/disposition.ts';
import { askerOf, createKeyCount, createPersonLimit } from '#server/http/rate-limit.ts';
import { changeProject, managedProjects } from './manage-train.service.ts';
import * as outputs from './output.service.ts';
import { viewProject } from './project-view.ts';
import * as projects from './project.service.ts';
import { quote } from './quote.service.ts';
import type { TrainDeps } from './train-deps.ts';
import * as files from './training-file.service.ts';
import * as passages from './passages.service.ts';
import * as watches from './watch.service.ts';

/** What one person may ask for in a minute. */
const aMinute = { packs: 10, quotes: 60, changes: 60, addresses: 10 };

const send = async (reply: FastifyReply, file: outputs.SentFile): Promise<void> => {
  const { data } = file;
  const kept = !Buffer.isBuffer(data);
  await reply
    .headers({
      ...(kept ? { 'content-length': data.size } : {}),
      'content-type': file.mime,
      'content-disposition': disposition(file.name),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-store',
    })
    .send(kept ? data.stream : data);
};

interface Takers extends Pick<TrainDeps, 'storage'> {
  stopJob: (id: number) => Promise<unknown>;
}

/** Takes away what lies outside the database of what is gone from there. */
const takeAway = async (
  { storage, stopJob }: Takers,
  keys: readonly string[],
  jobs: readonly number[] = [],
): Promise<void> => {
  for (const job of jobs) await stopJob(job);
  for (const key of keys) await storage.delete(key);
};

export const createManageTrainHandlers = (takers: Takers) =>
  ({
    adminTrainList: (input, { db }) => managedProjects(db, input),

    setTrainProject: async (input, { db, noteAct }) => {
      await changeProject(db, input, noteAct);
      return {};
    },

    delTrainProject: async ({ id }, { db, noteAct, afterCommit }) => {
      const { keys, jobs, name, userId } = await projects.removeAny(db, id);
      noteAct({ subject: `train:${id}`, from: { name, user_id: userId } });
      afterCommit(() => takeAway(takers, keys, jobs));
      return {};
    },
  }) satisfies Partial<Handlers>;

export const createTrainHandlers = (deps: TrainDeps & Takers) => {
  const limitUploads = createPersonLimit(deps.settings.uploadLimit * 8, 'training uploads');
  const limitPacks = createPersonLimit(aMinute.packs, 'training packs');
  const limitChanges = createPersonLimit(aMinute.changes, 'training changes');
  const limitAddresses = createPersonLimit(aMinute.addresses, 'watched addresses');
  const limitQuotes = createPersonLimit(aMinute.quotes, 'training quotes');
  const keysFound = createKeyCount(trainLimits.keysFound, 86_400, 'training keys found');

  return {
    trainModelList: (input, { db, user }) => {
      const { knowledge, lora } = projectTypes;
      const types = input.type === undefined ? [knowledge, lora] : [input.type];
      return projects.list(db, input, types, user);
    },

    translateModelList: (input, { db, user }) =>
      projects.list(db, input, [projectTypes.translation, projectTypes.packed], user),

    trainModel: async ({ model_id: id }, { db, user }) => ({
      model: await viewProject(db, id, user),
    }),

    trainEngines: (_input, { db, user }) => projects.engines(deps, db, user),

    newTrainModel: async (input, { db, user }) => ({
      model: await projects.create({ ...deps, keysFound }, db, input, user),
    }),

    setTrainModel: async (input, { db, user }) => ({
      model: await projects.change(db, input, user),
    }),

    setLoraImages: async (input, { db, user }) => ({
      model: await projects.setImages(deps, db, input, user),
    }),

    delTrainModel: async ({ id }, { db, user, afterCommit }) => {
      const { keys, jobs } = await projects.remove(db, id, user);
      afterCommit(() => takeAway(deps, keys, jobs));
      return {};
    },

    packModel: async ({ model_id: id }, { db, user, afterCommit }) => {
      await limitPacks(user.id);
      return outputs.pack(deps, db, id, user, (key) => afterCommit(() => takeAway(deps, [key])));
    },

    downloadLora: async ({ model_id: id }, { db, user, reply }) =>
      send(reply, await outputs.style(deps, db, id, user)),

    trainFileList: (input, { db, user }) => files.list(db, input, user),

    trainQuote: async ({ model_id: id }, { db, user }) => {
      await limitQuotes(user.id);
      const quoted = await quote(deps, db, id, user);
      return () => Promise.resolve(quoted);
    },

    startTraining: async ({ model_id: id }, { db, user }) => ({
      model: await files.start(db, id, user),
    }),

    retryTrainFile: async ({ fileId }, { db, user }) => {
      await files.retry(deps, db, fileId, user);
      return { message: trainTexts.retrying };
    },

    delTrainFile: async ({ file_id: id }, { db, user, afterCommit }) => {
      const keys = await files.remove(db, id, user);
      afterCommit(() => takeAway(deps, keys));
      return {};
    },

    uploadTrainFile: async (input, { file, user }) => {
      await limitUploads(user.id);
      return (db) => files.upload(deps, db, input, { file, user });
    },

    actOnFiles: async (input, { db, user, afterCommit }) => {
      const { done, keys } = await files.actOn(deps, db, input, user);
      afterCommit(() => takeAway(deps, keys));
      return { done };
    },

    passageList: (input, { db, user }) => passages.list(db, input, user),
    savePassage: async (input, { db, user }) => {
      await limitChanges(user.id);
      return passages.save(deps, db, input, user);
    },
    delPassage: async ({ id }, { db, user }) => {
      await passages.remove(db, id, user);
      return {};
    },
    addPair: async (input, { db, user }) => {
      await limitChanges(user.id);
      return passages.addPair(deps, db, input, user);
    },
    gapList: async ({ model_id: id }, { db, user }) => ({
      list: await passages.gaps(db, id, user),
    }),
    delGap: async (input, { db, user }) => {
      await passages.removeGap(db, input, user);
      return {};
    },

    addAddress: async (input, { db, user }) => {
      await limitAddresses(user.id);
      return watches.add(deps, db, input, user);
    },
    watchList: async ({ model_id: id }, { db, user }) => ({
      list: await watches.list(db, id, user),
    }),
    setWatch: async (input, { db, user, afterCommit }) => {
      await limitAddresses(user.id);
      await watches.set(db, input, user);
      if (input.live) afterCommit(() => watches.readNow(deps, input.file_id));
      return {};
    },

    trainLog: (input, { db, user }) => files.log(db, input, user),

    trainFileContent: async ({ key }, { db, user, ip, reply }) => {
      const who = askerOf(user, ip);
      return send(reply, await outputs.content(deps, db, key, who));
    },

    segmentList: (input, { db, user }) => outputs.segments(db, input, user),

    saveSegment: async (input, { db, user }) => ({
      changed: await outputs.correct(db, input, user),
    }),
  } satisfies Partial<Handlers>;
};
