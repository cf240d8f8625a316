import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { TrainingEngine } from '#server/engines/training/training-engine.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { Settings } from '#server/settings.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import type { FileService } from '../file/file.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';

/** What training works with, in calls and in jobs. */
export interface TrainDeps {
  db: Database;
  storage: Storage;
  requireDisk: DiskRoom['require'];
  embeddings: EmbeddingModels;
  /** What trains styles now. */
  training: () => Promise<TrainingEngine>;
  models: Pick<ModelService, 'list'>;
  prompts: Pick<PromptService, 'writer' | 'ask'>;
  files: Pick<FileService, 'takeImages' | 'imageAt'>;
  fetch: GuardedFetch;
  log: FastifyBaseLogger;
  settings: Pick<Settings, 'documentSeconds' | 'fileQuota' | 'uploadLimit' | 'workers'>;
}
