import type { Storage } from './storage-interface.ts';
import { randomBytes } from 'node:crypto';
import type { Settings } from '../settings.ts';
import { createFolderStorage } from './folder-storage.ts';
import { createS3Storage } from './s3-storage.ts';

/** 160 random bits: knowing a key is the right to read its file. */
export const newKey = (): string => randomBytes(20).toString('hex');

/** `S3_ENDPOINT` set: a service that speaks S3; otherwise the folder `files` below DATA_DIR. */
export const createStorage = (settings: Settings): Storage =>
  settings.s3 ? createS3Storage(settings.s3) : createFolderStorage(settings.dataDir);
