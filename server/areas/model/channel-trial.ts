import type { Out } from '../../../contract/calls.ts';
import type { ChannelKind } from '../../../contract/manage-model.ts';
import { EngineError } from '../../engines/chat-engine.ts';
import { listModels } from '../../engines/openai-compatible/list-models.ts';
import { createOpenAiCompatibleEngine } from '../../engines/openai-compatible/openai-compatible-engine.ts';
import { createStableDiffusionEngine } from '../../engines/stable-diffusion-webui/stable-diffusion-engine.ts';
import { isEmbeddingModel } from '../../engines/embedding/embedding-models.ts';
import { createOpenAiEmbedding } from '../../engines/embedding/openai-embedding.ts';
import { imageOfferOf } from './image-models.ts';
import { isChatModel } from './model-names.ts';
import { priceOfName } from './chat-price-by-name.ts';

type Trial = Out<'testChannel'>;

/** How long a trial may take, ms. */
const patience = 25_000;
const mostReply = 200;

const failure = (message: string, models: Trial['models'] = []): Trial => ({
  ok: false,
  message,
  latency: null,
  models,
});

const reasonOf = (error: unknown): string => {
  if (error instanceof EngineError) return error.message;
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  if (name === 'TimeoutError' || name === 'AbortError') return '等了 25 秒没有回应，请检查地址';
  if (code === 'ECONNREFUSED') return '连不上：这个地址没有服务在听';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return '找不到这个网址，请检查有没有写错';
  const status = /answered (\d{3})/.exec(message ?? '')?.[1];
  if (status === '401' || status === '403')
    return '密钥不对，或没有权限（服务回答 ' + status + '）';
  if (status === '404') return '这个地址没有模型列表（404），请检查地址末尾是否要有 /v1';
  if (status) return `服务回答 ${status}`;
  return '没有成功：服务的回答读不懂，请检查地址';
};

const tryOpenAi = async (baseUrl: string, key: string, model?: string): Promise<Trial> => {
  const signal = AbortSignal.timeout(patience);
  let names: string[] = [];
  let listing: unknown;
  try {
    names = await listModels(baseUrl, key, signal);
  } catch (error) {
    listing = error;
  }
  const models = names
    .filter((name) => isChatModel(name) || imageOfferOf(name) !== null)
    .map((name) => ({ name, factor: imageOfferOf(name)?.factor ?? priceOfName(name).factor }));
  const chosen = model || models.find(({ name }) => isChatModel(name))?.name;
  if (chosen === undefined)
    return listing
      ? failure(reasonOf(listing))
      : failure('连上了，但它没有可以聊天的模型；请写一个模型名再试', models);
  const engine = createOpenAiCompatibleEngine({ baseUrl, apiKey: key });
  const begun = performance.now();
  let latency: number | null = null;
  let said = '';
  try {
    await engine.write(
      {
        model: chosen,
        messages: [{ role: 'user', content: '请只回答两个字：你好' }],
        temperature: 1,
        presencePenalty: 0,
        frequencyPenalty: 0,
        maxTokens: 64,
        signal,
      },
      (parts) => {
        latency ??= Math.round(performance.now() - begun);
        for (const part of parts) if (part.kind === 'text') said += part.text;
      },
    );
  } catch (error) {
    // The list may come without a key while a reply needs one.
    if (said === '') return failure(`${chosen}：${reasonOf(error)}`, models);
  }
  const shown = said.trim().slice(0, mostReply);
  return { ok: true, message: `${chosen} 回答：${shown || '（空）'}`, latency, models };
};

const tryWebui = async (baseUrl: string, auth: string): Promise<Trial> => {
  const begun = performance.now();
  try {
    const choices = await createStableDiffusionEngine({ baseUrl, auth }).choices(
      AbortSignal.timeout(patience),
    );
    return {
      ok: true,
      message: `连上了，有 ${choices.checkpoints.length} 个大模型`,
      latency: Math.round(performance.now() - begun),
      models: [],
    };
  } catch (error) {
    return failure(reasonOf(error));
  }
};

const tryAddress = async (baseUrl: string, secret: string): Promise<Trial> => {
  const begun = performance.now();
  try {
    const answer = await fetch(baseUrl, {
      headers: secret === '' ? {} : { 'mj-api-secret': secret },
      signal: AbortSignal.timeout(patience),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    return answer.status < 500
      ? {
          ok: true,
          message: '地址有回应。画一张图，就知道密钥对不对',
          latency: Math.round(performance.now() - begun),
          models: [],
        }
      : failure(`服务回答 ${answer.status}`);
  } catch (error) {
    return failure(reasonOf((error as Error).cause ?? error));
  }
};

const tryEmbedding = async (baseUrl: string, apiKey: string, model?: string): Promise<Trial> => {
  const signal = AbortSignal.timeout(patience);
  const names = await listModels(baseUrl, apiKey, signal).catch(() => []);
  const models = names.filter(isEmbeddingModel).map((name) => ({ name, factor: 0 }));
  const chosen = model || models[0]?.name;
  if (!chosen) return failure('请写一个向量模型的名字再试', models);
  const begun = performance.now();
  try {
    const { vectors } = await createOpenAiEmbedding({ baseUrl, apiKey, model: chosen }).embed(
      ['你好'],
      signal,
    );
    return {
      ok: true,
      message: `${chosen} 给出 ${(vectors[0]?.length ?? 0) / 4} 维向量`,
      latency: Math.round(performance.now() - begun),
      models,
    };
  } catch (error) {
    return failure(`${chosen}：${(error as Error).message}`, models);
  }
};

const tryReplicate = async (baseUrl: string, token: string): Promise<Trial> => {
  const begun = performance.now();
  try {
    const answer = await fetch(`${baseUrl}/account`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(patience),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    if (answer.status === 401 || answer.status === 403)
      return failure(`密钥不对，或没有权限（服务回答 ${answer.status}）`);
    if (answer.status >= 500) return failure(`服务回答 ${answer.status}`);
    return {
      ok: true,
      message: answer.ok ? '连上了，密钥可以用' : '地址有回应。训练一次，就知道密钥对不对',
      latency: Math.round(performance.now() - begun),
      models: [],
    };
  } catch (error) {
    return failure(reasonOf((error as Error).cause ?? error));
  }
};

/** Asks a service what it has and lets it answer once. Never throws: what went wrong is told. */
export const tryService = (
  kind: ChannelKind,
  baseUrl: string,
  secret: string,
  model?: string,
): Promise<Trial> => {
  if (kind === 'openai-compatible') return tryOpenAi(baseUrl, secret, model);
  if (kind === 'embedding') return tryEmbedding(baseUrl, secret, model);
  if (kind === 'replicate') return tryReplicate(baseUrl, secret);
  if (kind === 'stable-diffusion-webui') return tryWebui(baseUrl, secret);
  return tryAddress(baseUrl, secret);
};
