import type { FastifyBaseLogger } from 'fastify';
import type { ImageTask } from '#contract/image.ts';
import type { Database } from '#server/db/database.ts';
import type { ImageResult } from '#server/engines/image-engine.ts';
import type { AtService } from '#server/jobs/engine-io.ts';
import type { ClaimedJob } from '#server/jobs/job-kind.ts';
import type { FileService } from '../file/file.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ImageChannel } from '../model/resolved-model.ts';
import type { SafetyService } from '../moderation/safety.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';

export interface ImageWorkDeps {
  db: Database;
  models: Pick<ModelService, 'imageEngines' | 'reportImageOutcome'>;
  files: Pick<FileService, 'imageAt' | 'keepMade' | 'dropStored' | 'preview'>;
  translate: PromptService['translate'];
  safety: Pick<SafetyService, 'checkText' | 'checkPicture' | 'requirePictures'>;
  /** Where people reach this server; empty: not known. */
  publicUrl: string;
  log: FastifyBaseLogger;
}

/** An image that is stored; null: it failed. */
export type Kept = {
  key: string;
  width: number;
  height: number;
  size: number;
  seed: number | null;
} | null;

export interface Painted {
  images: { kept: Kept; error: string }[];
  prompt: string;
  result: Pick<ImageResult, 'actions' | 'revisedPrompt' | 'remote' | 'unread'>;
  channel: Pick<ImageChannel, 'channelId' | 'label'>;
  size: { width: number; height: number };
}

/** What stands in a job's `remote`: what was done already, for whoever takes it over. */
export interface Done extends AtService {
  /** The words in English, which are paid for. */
  english?: string;
  /** What this job paid for them. */
  englishTokens?: number;
  /** Keys of the files that were about to be stored. */
  keys?: string[];
}

/** A program asked for it: its images belong to an account and to no message. */
export const ofAccount = ({ subject_kind: kind }: Pick<ClaimedJob, 'subject_kind'>): boolean =>
  kind === 'account';

/** It goes on from an image by itself, outside of any message. */
export const ofImage = ({ subject_kind: kind }: Pick<ClaimedJob, 'subject_kind'>): boolean =>
  kind === 'image';

/** Tasks that change an image; the others draw one. */
export const edits: ReadonlySet<ImageTask> = new Set(['upscale', 'edit', 'remove-bg', 'edit-bg']);
