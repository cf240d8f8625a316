import type { FastifyBaseLogger } from 'fastify';
import type { OllamaPull } from '#contract/local-model.ts';
import { ollamaModels, pullOllama, PullFailed } from '#server/engines/local/ollama.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';

interface Pulling extends OllamaPull {
  stop: AbortController;
}

/** Pulls that run at once, and that are told of after their end, per address. */
const mostAtOnce = 2;
const mostTold = 10;

/** What Ollama on this machine has, and what it is bringing; the pulls are this process's. */
export const createOllama = (deps: {
  log: FastifyBaseLogger;
  /** Where one may listen, as `LOCAL_MODELS` says. */
  places: readonly string[];
  models: Pick<ModelService, 'offerService'>;
}) => {
  const { log, places, models } = deps;
  const pulls = new Map<string, Pulling[]>();
  const of = (baseUrl: string) => pulls.get(baseUrl) ?? [];
  const toldOf = (baseUrl: string): OllamaPull[] =>
    of(baseUrl).map(({ model, state, status, bytes, total, error }) => ({
      model,
      state,
      status,
      bytes,
      total,
      error,
    }));

  const offer = async (baseUrl: string): Promise<void> => {
    const names = await ollamaModels(baseUrl);
    if (names && names.length > 0) await models.offerService(baseUrl, names);
  };

  const run = async (baseUrl: string, pull: Pulling): Promise<void> => {
    try {
      await pullOllama({ baseUrl, model: pull.model, signal: pull.stop.signal }, (now) =>
        Object.assign(pull, now),
      );
      await offer(baseUrl);
      pull.state = 'done';
      log.info({ model: pull.model }, 'Ollama brought a model');
    } catch (error) {
      if (pull.stop.signal.aborted) return;
      pull.state = 'failed';
      pull.error = error instanceof PullFailed ? error.message : '没有成功，请再试一次';
      log.warn({ err: error, model: pull.model }, 'Ollama could not bring a model');
    }
  };

  const requirePlace = (baseUrl: string): void => {
    if (!places.includes(baseUrl)) throw new Refusal('not_found', '这台机器上没有这个服务');
  };

  return {
    list: async () => {
      const found = await Promise.all(
        places.map(async (baseUrl) => ({ baseUrl, names: await ollamaModels(baseUrl) })),
      );
      return found.flatMap(({ baseUrl, names }) =>
        names ? [{ base_url: baseUrl, models: names, pulls: toldOf(baseUrl) }] : [],
      );
    },

    /** @throws Refusal not_found, manage_unsuitable */
    pull: async (baseUrl: string, model: string): Promise<void> => {
      requirePlace(baseUrl);
      if ((await ollamaModels(baseUrl)) === null)
        throw new Refusal('manage_unsuitable', 'Ollama 没有在运行');
      const others = of(baseUrl).filter((each) => each.model !== model);
      const same = of(baseUrl).find((each) => each.model === model);
      if (same?.state === 'pulling') return;
      if (others.filter(({ state }) => state === 'pulling').length >= mostAtOnce)
        throw new Refusal('manage_unsuitable', '已经在拉两个了，等一个完成再来');
      const pull: Pulling = {
        model,
        state: 'pulling',
        status: '',
        bytes: 0,
        total: 0,
        error: '',
        stop: new AbortController(),
      };
      pulls.set(baseUrl, [pull, ...others].slice(0, mostTold));
      void run(baseUrl, pull);
    },

    /** What came so far stays with Ollama. @throws Refusal not_found */
    stop: (baseUrl: string, model: string): void => {
      requirePlace(baseUrl);
      const found = of(baseUrl).find((each) => each.model === model);
      if (!found) throw new Refusal('not_found', '没有在拉这个模型');
      found.stop.abort();
      pulls.set(
        baseUrl,
        of(baseUrl).filter((each) => each !== found),
      );
    },

    close: (): void => {
      for (const pull of [...pulls.values()].flat()) pull.stop.abort();
    },
  };
};
