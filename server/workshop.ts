import type { FastifyBaseLogger } from 'fastify';
import type { Connection } from './db/connect.ts';
import { joinInstances } from './db/instance.ts';
import { createFileService } from './file/file.service.ts';
import { createGuardedFetch } from './http/guarded-fetch.ts';
import { madeImages } from './image/made.service.ts';
import { createImageWork } from './image/image-work.ts';
import { createJobs } from './jobs/jobs.ts';
import { createModelService } from './model/model.service.ts';
import { createPromptService } from './prompt/prompt.service.ts';
import type { Settings } from './settings.ts';
import { createStorage } from './storage/storage.ts';

/**
 * What works on jobs and what that needs: part of every server, and all there is of a process that
 * only works (worker-main.ts).
 */
export const createWorkshop = async (
  settings: Settings,
  log: FastifyBaseLogger,
  { db, connectionString }: Pick<Connection, 'db' | 'connectionString'>,
) => {
  const instance = await joinInstances(connectionString, log);
  const models = createModelService({ db, settings, log, instance });
  await models.start();
  const storage = createStorage(settings);
  const guardedFetch = createGuardedFetch({ allowed: settings.fetchAllowed });
  const files = createFileService({
    storage,
    fetch: guardedFetch,
    quota: settings.fileQuota,
    uploadLimit: settings.uploadLimit,
    documentSeconds: settings.documentSeconds,
    madeImages,
  });
  const prompts = createPromptService({ db, models, log });
  const jobs = await createJobs({
    db,
    connectionString,
    instance,
    log,
    workers: settings.workers,
    kinds: [
      createImageWork({
        db,
        models,
        files,
        translate: prompts.translate,
        publicUrl: settings.publicUrl,
        log,
      }),
    ],
  });
  return { instance, models, storage, files, prompts, jobs };
};
