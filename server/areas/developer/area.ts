import { needsTranslation } from '#contract/image-prompt.ts';
import type { Area, Host } from '#server/area.ts';
import type { OpenContext } from '#server/http/open-handlers.ts';
import { registerOpenCalls } from '#server/http/open-routes.ts';
import { createRunningCalls } from '#server/http/running-calls.ts';
import { createKeyBox } from '../model/channel-key.ts';
import { createBatchHandlers } from './batch.handlers.ts';
import { createBatchWorker } from './batch-work.ts';
import { dropOldBatches } from './batch.store.ts';
import { dropOldNotes } from './call-log.store.ts';
import { createApiChat } from './chat.service.ts';
import { createDeveloperHandlers } from './developer.handlers.ts';
import { createSearchHere } from '../tool/search-here.ts';
import { serveMcp } from './mcp-server.ts';
import { createGate } from './key-limits.ts';
import { dropOldCalls } from './key-meter.store.ts';
import { createEmbeddingApi } from './embedding.handlers.ts';
import { createImageApi } from './image.handlers.ts';
import { countEndedJobs } from './image-works.ts';
import { createModelList } from './model-list.handlers.ts';
import { createChatHandlers } from './open.handlers.ts';
import { createResponseApi } from './response.handlers.ts';
import { dropOldResponses } from './stored-responses.ts';
import { createTextApi } from './text.handlers.ts';
import { createWritingApi } from './writing.handlers.ts';
import { createSpeechApi } from './speech.handlers.ts';

/** What belongs to a person, and what becomes of it when they leave. */
const holds: Area['holds'] = [
  {
    table: 'api_keys',
    of: ['user_id'],
    end: {
      set: {
        name: `''`,
        used_for: `''`,
        mask: `''`,
        models: `'{}'`,
        addresses: `'{}'`,
        hash: 'NULL',
        old_hash: 'NULL',
        sealed: 'NULL',
        deleted_at: 'coalesce(deleted_at, now())',
      },
    },
    take: ['name', 'used_for', 'mask', 'created_at', 'last_used_at', 'deleted_at'],
  },
  {
    table: 'api_calls',
    of: ['user_id'],
    end: 'delete',
    take: ['begun_at', 'path', 'model', 'status', 'deduct_tokens', 'request', 'answer'],
  },
  {
    table: 'api_responses',
    of: ['user_id'],
    end: 'delete',
    take: ['created_at', 'items', 'response'],
  },
  {
    table: 'api_file_parts',
    of: [],
    where: 'file_id IN (SELECT id FROM api_files WHERE user_id = $person)',
    end: 'delete',
    take: ['file_id', 'part', 'content'],
  },
  {
    table: 'api_files',
    of: ['user_id'],
    end: 'delete',
    take: ['id', 'name', 'created_at'],
  },
  {
    table: 'api_batches',
    of: ['user_id'],
    end: 'delete',
    take: ['id', 'status', 'created_at'],
  },
  ...['api_usage', 'api_jobs'].map((table) => ({
    table,
    of: ['user_id'],
    end: { keep: 'what was used and paid, for the books; numbers and no words' },
  })),
];

export const developerArea = () => {
  const running = createRunningCalls();
  return {
    holds,
    drain: (ms: number) => running.drain(ms),
    chores: [countEndedJobs, dropOldCalls, dropOldNotes, dropOldResponses, dropOldBatches],
    serve: ({ auth, settings }: Host) =>
      createDeveloperHandlers({ auth, box: createKeyBox(settings.secretKey, settings.dataDir) }),
    routes: (
      http,
      {
        db,
        settings,
        instance,
        models,
        files,
        signing,
        jobs,
        prompts,
        embeddings,
        knowledge,
        disk,
        log,
      }: Host,
    ) => {
      const gate = createGate({
        db,
        instance,
        limits: { requests: settings.apiRequests, tokens: settings.apiTokens },
        log,
      });
      http.addHook('onClose', () => gate.close());
      const chat = createApiChat({
        db,
        models,
        gate,
        fetchImage: (...asked) => files.imageForModel(...asked),
        wordsOnImage: (...asked) => files.wordsOnImage(...asked),
        silenceMs: Math.max(settings.modelFirstWordSeconds, settings.modelIdleSeconds) * 1000,
        log,
      });
      const embedding = createEmbeddingApi({ db, embeddings, gate, log });
      const writing = createWritingApi({ db, chat, models, prompts });
      const inEnglish = async (context: OpenContext, text: string): Promise<string | null> => {
        if (!needsTranslation(text)) return text;
        const answer = await writing.apiTranslate({ text, to: 'en', model: undefined }, context);
        const { text: said, translated } = (
          answer as { json: { text: string; translated: boolean } }
        ).json;
        return translated ? said : null;
      };
      const batches = createBatchWorker({
        db,
        instance: instance.id,
        chat,
        gate,
        running,
        log,
      });
      http.addHook('onClose', async () => batches.close());
      serveMcp(http, {
        db,
        gate,
        search: createSearchHere(knowledge),
        publicUrl: settings.publicUrl,
        version: settings.version,
        addressLimit: settings.credentialsLimit,
      });
      registerOpenCalls(http, {
        db,
        instanceId: instance.id,
        gate,
        running,
        handlers: {
          ...createChatHandlers({ db, chat, knowledge, models }),
          ...createResponseApi({ db, chat }),
          ...createModelList({ db, models, embeddings }),
          ...writing,
          ...createBatchHandlers({ db, disk }),
          ...createImageApi({ db, models, files, jobs, log }),
          ...createSpeechApi({ db, sign: signing.sign, models, inEnglish, log }),
          ...embedding,
          ...createTextApi({ db, chat, embed: embedding.createEmbeddings }),
        },
        addressLimit: settings.credentialsLimit,
        version: settings.version,
        publicUrl: settings.publicUrl,
      });
    },
  } satisfies Area;
};
