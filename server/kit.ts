import type { FastifyBaseLogger } from 'fastify';
import type { Connection } from './db/connect.ts';
import { joinInstances } from './db/instance.ts';
import { startInstanceReport } from './instance-report.ts';
import { closeIndexes } from './areas/embedding/open-indexes.ts';
import { release } from './areas/ledger/ledger.service.ts';
import { createKnowledgeService } from './areas/embedding/embedding.service.ts';
import { createOriginals } from './areas/embedding/originals.ts';
import { createFileService } from './areas/file/file.service.ts';
import { createEmbeddingModels } from './engines/embedding/embedding-models.ts';
import { createLocalKnowledgeModels } from './engines/embedding/local-embedding.ts';
import { modelFolder } from './engines/local/model-folder.ts';
import { createGuardedFetch } from './net/guarded-fetch.ts';
import { createSigning } from './areas/compliance/signing.service.ts';
import { checkedModels, judgingModels } from './checked-models.ts';
import { createSafety } from './areas/moderation/safety.service.ts';
import { paidStanding } from './areas/payment/has-paid.ts';
import { drawnBytes, keepUploaded, stateOfFile } from './areas/image/images.service.ts';
import type { Area, Kit } from './area.ts';
import { createAreas } from './areas/list.ts';
import { createJobs } from './jobs/jobs.ts';
import { createKeyBox } from './areas/model/channel-key.ts';
import { createModelService } from './areas/model/model.service.ts';
import { createSideServices } from './areas/model/side-services.ts';
import { createSpeechService } from './areas/speech/speech.service.ts';
import { createPromptService } from './areas/prompt/prompt.service.ts';
import { knowledgeBases } from './areas/train/knowledge-bases.ts';
import type { Lifetime } from './lifetime.ts';
import type { Settings } from './settings.ts';
import { createDiskRoom, elsewhere } from './storage/disk-room.ts';
import { createStorage } from './storage/storage.ts';
import { openValkey } from './valkey/valkey.ts';

/** Of the space that a person's files have, what readings in their sessions may take. */
const speechShare = 0.1;

/**
 * What works on jobs and what that needs: part of every server, and all there is of a process that
 * only works (worker-main.ts).
 */
export const createKit = async (
  settings: Settings,
  log: FastifyBaseLogger,
  { db, sessions, connectionString }: Pick<Connection, 'db' | 'sessions' | 'connectionString'>,
  life: Lifetime,
) => {
  const instance = await joinInstances(connectionString, log);
  life.own(instance.close);
  (log as FastifyBaseLogger & { setBindings?: (names: object) => void }).setBindings?.({
    instance: instance.id,
  });
  const valkey = settings.valkeyUrl ? await openValkey(settings.valkeyUrl, db, log) : null;
  life.own(() => valkey?.close());
  const report = await startInstanceReport(db, instance, settings, log);
  life.own(report.close);
  const plainModels = createModelService({ db, settings, log, instance });
  life.own(() => plainModels.close());
  await plainModels.start();
  const safety = createSafety({
    db,
    box: () => createKeyBox(settings.secretKey, settings.dataDir),
    judge: judgingModels(db, plainModels),
    hasPaid: async (userId) => (await paidStanding(db, userId)).paid,
    log,
  });
  life.own(() => safety.close());
  const models = checkedModels(db, plainModels, safety);
  const storage = createStorage(settings);
  const disk = settings.s3 ? elsewhere : createDiskRoom(settings.dataDir, settings.diskReserve);
  const fetch = createGuardedFetch({ allowed: settings.fetchAllowed });
  const signing = createSigning({
    db,
    box: () => createKeyBox(settings.secretKey, settings.dataDir),
    log,
  });
  const files = createFileService({
    db,
    storage,
    sign: signing.sign,
    fetch,
    quota: settings.fileQuota,
    guestQuota: settings.guestQuota,
    disk,
    uploadLimit: settings.uploadLimit,
    appFileBytes: settings.appFileBytes,
    documentSeconds: settings.documentSeconds,
    keepUploaded,
    stateOfFile,
    drawnBytes,
    checkPicture: async (picture, userId) => {
      const { level, reason } = await safety.checkPicture('in', picture, { userId, keep: true });
      return level === 'refuse' ? reason : null;
    },
  });
  const prompts = createPromptService({ db, models, log, owner: instance.id });
  const speech = createSpeechService({
    models,
    storage,
    sign: signing.sign,
    log,
    owner: instance.id,
    room: Math.floor(settings.fileQuota * speechShare),
  });
  const services = createSideServices(db, () => createKeyBox(settings.secretKey, settings.dataDir));
  const local = createLocalKnowledgeModels(modelFolder(settings.dataDir));
  life.own(local.close);
  life.own(closeIndexes);
  const embeddings = createEmbeddingModels(settings, () => services.find('embedding'), local);
  const knowledge = createKnowledgeService({
    embeddings,
    bases: knowledgeBases,
    originals: createOriginals(storage, settings.documentSeconds),
  });
  const kit: Kit = {
    db,
    settings,
    log,
    instance,
    valkey,
    storage,
    disk,
    models,
    files,
    prompts,
    speech,
    safety,
    signing,
    knowledge,
    embeddings,
    services,
    fetch,
  };
  const areas = createAreas(kit);
  const kinds = areas.flatMap((area: Area) => area.jobKinds ?? []);
  const { workers } = settings;
  const jobs = await createJobs({
    db,
    sessions,
    connectionString,
    instance,
    log,
    workers,
    kinds,
    release,
  });
  life.own(() => jobs.drain(0));
  return { kit, areas, jobs, kinds };
};
