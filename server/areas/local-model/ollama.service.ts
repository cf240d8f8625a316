import { randomUUID } from 'node:crypto';
import type { OllamaPull } from '#contract/local-model.ts';
import type { Database } from '#server/db/database.ts';
import { ollamaModels } from '#server/engines/local/ollama.ts';
import { Refusal } from '#server/http/handlers.ts';
import { beginJob, requireRoomForJob } from '#server/jobs/job.service.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import * as store from './local-model.store.ts';
import { type PullInput, pullLivesMs } from './ollama-job.ts';

/** Pulls that run at once, and that are told of, per address. */
const mostAtOnce = 2;
const mostTold = 10;

const isOpen = ({ state }: store.PullRow): boolean => state === 'queued' || state === 'running';

const view = (row: store.PullRow): OllamaPull => ({
  model: row.model,
  state: isOpen(row) ? 'pulling' : row.state === 'done' ? 'done' : 'failed',
  status: row.sofar?.status ?? '',
  bytes: row.sofar?.bytes ?? 0,
  total: row.sofar?.total ?? 0,
  error: row.error,
});

/** What Ollama on this machine has, and what it is bringing, each as a job. */
export const createOllama = (deps: {
  db: Database;
  /** Where one may listen, as `LOCAL_MODELS` says. */
  places: readonly string[];
}) => {
  const { db, places } = deps;

  const requirePlace = (baseUrl: string): void => {
    if (!places.includes(baseUrl)) throw new Refusal('not_found', '这台机器上没有这个服务');
  };

  return {
    list: async () => {
      const found = await Promise.all(
        places.map(async (baseUrl) => ({ baseUrl, names: await ollamaModels(baseUrl) })),
      );
      return Promise.all(
        found.flatMap(({ baseUrl, names }) =>
          names
            ? [
                store.pullsFrom(db, baseUrl, mostTold).then((rows) => ({
                  base_url: baseUrl,
                  models: names,
                  pulls: rows.map(view),
                })),
              ]
            : [],
        ),
      );
    },

    /** @throws Refusal not_found, manage_unsuitable, too_many_jobs */
    pull: async (baseUrl: string, model: string, userId: number): Promise<void> => {
      requirePlace(baseUrl);
      if ((await ollamaModels(baseUrl)) === null)
        throw new Refusal('manage_unsuitable', 'Ollama 没有在运行');
      await db.transaction(async (tx) => {
        await requireRoomForJob(tx, userId);
        const open = (await store.pullsFrom(tx, baseUrl, 100)).filter(isOpen);
        if (open.some((each) => each.model === model)) return;
        if (open.length >= mostAtOnce)
          throw new Refusal('manage_unsuitable', '已经在拉两个了，等一个完成再来');
        await beginJob(tx, {
          uuid: randomUUID(),
          userId,
          kind: 'ollama',
          title: model,
          model: 'Ollama',
          subject: { kind: 'local-model', id: userId },
          input: { base_url: baseUrl, model } satisfies PullInput,
          holdId: null,
          heldTokens: 0,
          livesMs: pullLivesMs,
        });
      });
    },

    /** What came so far stays with Ollama. @throws Refusal not_found */
    stop: async (baseUrl: string, model: string, jobs: Pick<Jobs, 'cancel'>): Promise<void> => {
      requirePlace(baseUrl);
      const found = (await store.pullsFrom(db, baseUrl, 100)).find((each) => each.model === model);
      if (!found) throw new Refusal('not_found', '没有在拉这个模型');
      if (isOpen(found)) await jobs.cancel(found.id);
      else await store.hideJob(db, found.id);
    },
  };
};
