import { callsTools } from '#common/tool-models.ts';
import { thinkingByName, type ThinkingWords } from '#common/thinking-models.ts';
import type { Out } from '#contract/calls.ts';
import { searches, type ChannelKind, type SearchPaths } from '#contract/manage-model.ts';
import { modelTypes } from '#contract/kinds.ts';
import { EngineError, type ToolSpec } from '#server/engines/chat-engine.ts';
import {
  chatServices,
  type ChatServiceKind,
  isChatService,
  type Place,
} from '#server/engines/chat-service.ts';
import { listModels } from '#server/engines/openai-compatible/list-models.ts';
import { createStableDiffusionEngine } from '#server/engines/stable-diffusion-webui/stable-diffusion-engine.ts';
import { calibrate } from '#server/engines/embedding/calibration.ts';
import { EmbeddingError } from '#server/engines/embedding/embedding-engine.ts';
import { isEmbeddingModel, isKnowledgeModel } from '#server/engines/embedding/model-names.ts';
import { createOpenAiEmbedding } from '#server/engines/embedding/openai-embedding.ts';
import { SearchError, searchWeb, type SearchService } from '#server/engines/search/web-search.ts';
import type { AskedThinking } from '#server/engines/thinking.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { ServiceError } from '#server/engines/service-wire.ts';
import { createOpenAiSpeechEngine } from '#server/engines/speech/openai-speech-engine.ts';
import { shortReason } from './channel-health.ts';
import { imageOfferOf } from './image-models.ts';
import { mediaOfferOf } from './media-models.ts';
import { isChatModel } from './model-names.ts';
import { priceOfName } from './chat-price-by-name.ts';
import { usualModels } from './usual-models.ts';

type Trial = Out<'testChannel'>;

/** How long a trial may take, ms. */
const patience = 25_000;
const mostReply = 200;
/** Words of thinking that are tried, the likeliest first. */
const learnable: readonly ThinkingWords[] = ['switch', 'type', 'template', 'effort'];

const failure = (message: string, models: Trial['models'] = []): Trial => ({
  ok: false,
  message,
  latency: null,
  models,
});

/** What a broken connection means for who typed the address. */
const faultsOfLine: Readonly<Record<string, string>> = {
  ECONNREFUSED: '连不上：这个地址没有服务在听',
  ENOTFOUND: '找不到这个网址，请检查有没有写错',
  EAI_AGAIN: '找不到这个网址，请检查有没有写错',
  EHOSTUNREACH: '连不上：到不了这个地址',
  ENETUNREACH: '连不上：到不了这个地址',
  ECONNRESET: '连上之后又断开了，请检查是 http 还是 https',
  UND_ERR_SOCKET: '连上之后又断开了，请检查是 http 还是 https',
  EPROTO: '连上之后又断开了，请检查是 http 还是 https',
  ERR_SSL_WRONG_VERSION_NUMBER: '连上之后又断开了，请检查是 http 还是 https',
  DEPTH_ZERO_SELF_SIGNED_CERT: '它的证书不被信任',
  SELF_SIGNED_CERT_IN_CHAIN: '它的证书不被信任',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: '它的证书不被信任',
  ERR_TLS_CERT_ALTNAME_INVALID: '它的证书是别的网址的',
  CERT_HAS_EXPIRED: '它的证书过期了',
  UND_ERR_CONNECT_TIMEOUT: '连不上：这个地址没有回应',
};

const refused = (status: number): string => `密钥不对，或没有权限（服务回答 ${status}）`;

const reasonOf = (error: unknown): string => {
  const { name, message, cause } = error as Error;
  for (const each of [error, cause]) {
    const { code } = (each ?? {}) as { code?: unknown };
    const known = typeof code === 'string' ? faultsOfLine[code] : undefined;
    if (known) return known;
  }
  if (name === 'TimeoutError' || name === 'AbortError') return '等了 25 秒没有回应，请检查地址';
  const told = /answered (\d{3})/.exec(`${message} ${(cause as Error | undefined)?.message ?? ''}`);
  const status = Number(told?.[1] ?? (cause as { status?: unknown } | undefined)?.status ?? 0);
  if (status === 401 || status === 403) return refused(status);
  if (
    error instanceof EngineError ||
    error instanceof ServiceError ||
    error instanceof EmbeddingError
  )
    return shortReason(message);
  if (status === 404) return '这个地址没有模型列表（404），请检查地址末尾是否要有 /v1';
  if (status) return `服务回答 ${status}`;
  return '没有成功：服务的回答读不懂，请检查地址';
};

/** A second of silence, as a WAV of 8,000 samples a second. */
const silence = (): Buffer => {
  const samples = 8000;
  const wav = Buffer.alloc(44 + samples, 0x80);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(36 + samples, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(samples, 24);
  wav.writeUInt32LE(samples, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(samples, 40);
  return wav;
};

interface Asked {
  kind: ChatServiceKind;
  place: Place;
  model: string;
  signal: AbortSignal;
}

/** What a model said, and the ms until its first word where that is not all of it. */
interface Answered {
  message: string;
  firstMs?: number;
  /** How it is told to think long or little, where its name does not say so. */
  thinking?: ThinkingWords;
  /** It calls tools, or does not. */
  tools?: boolean;
}

const hello = '请只回答两个字：你好';
/** A tool that is offered to see whether it is called. */
const clock = {
  name: 'now',
  description: '查现在的时间',
  parameters: { type: 'object', properties: {} },
};

/** Asks for a few letters; gives what was said, and whether it was thought about, or a tool called. */
const tryAsking = async (
  { kind, place, model, signal }: Asked,
  {
    question = hello,
    thinking,
    tools,
    onWord = () => {},
  }: {
    question?: string;
    thinking?: AskedThinking;
    tools?: readonly ToolSpec[];
    onWord?: () => void;
  } = {},
): Promise<{ said: string; thought: boolean; called: boolean }> => {
  let said = '';
  let thought = false;
  let called = false;
  try {
    await chatServices[kind].engine(place).write(
      {
        model,
        messages: [{ role: 'user', content: question }],
        temperature: 1,
        presencePenalty: 0,
        frequencyPenalty: 0,
        // What thinks first needs more of them to come to a call.
        maxTokens: tools ? 512 : 64,
        thinking,
        tools,
        signal,
      },
      (parts) => {
        onWord();
        for (const part of parts) {
          if (part.kind === 'text') said += part.text;
          thought ||= part.kind === 'reasoning';
          called ||= part.kind === 'call';
        }
      },
    );
  } catch (error) {
    if (said === '' && !thought && !called) throw error;
  }
  return { said, thought, called };
};

/**
 * The words in which a model that thinks by itself, and whose name nobody knows, is told to think
 * little: the first after which it answers without a thought. Undefined: none of them.
 */
const learnThinking = async (asked: Asked): Promise<ThinkingWords | undefined> => {
  for (const words of learnable) {
    const tried = await tryAsking(asked, { thinking: { choice: 'fast', words } }).catch(() => null);
    if (tried && tried.said !== '' && !tried.thought) return words;
    if (asked.signal.aborted) return undefined;
  }
  return undefined;
};

/**
 * Whether a model calls a tool that it is offered. What its name promises is taken back only where
 * the service refuses tools: a model may also answer without them once.
 */
const tryTools = async (asked: Asked): Promise<Pick<Answered, 'tools'> & { told: string }> => {
  const tried = await tryAsking(asked, {
    question: '现在几点？请调用工具 now 来查',
    tools: [clock],
  }).catch((error: unknown) => {
    if (error instanceof EngineError && error.askerAtFault) return 'refused' as const;
    return null;
  });
  if (tried === null) return { told: '' };
  if (tried !== 'refused' && tried.called) return { told: '会用工具', tools: true };
  if (tried !== 'refused' && callsTools(asked.model)) return { told: '这一次没有用工具' };
  return { told: '不会用工具', tools: false };
};

const chat = async (asked: Asked): Promise<Answered> => {
  const { kind, model } = asked;
  const begun = performance.now();
  let firstMs: number | undefined;
  const { said, thought } = await tryAsking(asked, {
    onWord: () => {
      firstMs ??= performance.now() - begun;
    },
  });
  const unknown = thought && kind === 'openai-compatible' && thinkingByName(model) === null;
  const thinking = unknown ? await learnThinking(asked) : undefined;
  const { told, tools } = await tryTools(asked);
  const thinks =
    (thinking ?? thinkingByName(model)) ? '可以选快想或深想' : thought ? '会先思考' : '';
  const learned = [told, thinks].filter((each) => each !== '').join('，');
  return {
    message: `${model} 回答：${said.trim().slice(0, mostReply) || '（空）'}${learned === '' ? '' : `（${learned}）`}`,
    ...(firstMs === undefined ? {} : { firstMs }),
    ...(thinking ? { thinking } : {}),
    ...(tools === undefined ? {} : { tools }),
  };
};

const speak = async ({ place, model, signal }: Asked): Promise<Answered> => {
  const engine = createOpenAiSpeechEngine(place);
  const [voice = ''] = Object.keys(engine.voices(model));
  const { data } = await engine.speak({ model, text: '你好', voice, speed: 1 }, signal);
  return { message: `${model} 读出了“你好”（${Math.ceil(data.length / 1024)} KB）` };
};

const hear = async ({ place, model, signal }: Asked): Promise<Answered> => {
  const order = { model, data: silence(), mime: 'audio/wav' };
  const words = await createOpenAiSpeechEngine(place).hear(order, signal);
  return {
    message: `${model} 听了一秒静音，写下：${words.trim().slice(0, mostReply) || '（空）'}`,
  };
};

/** What costs too much to be tried for nothing. */
const known = ({ model }: Asked): Promise<Answered> =>
  Promise.resolve({ message: `连上了，密钥可以用。${model} 用一次花费不少，没有试做` });

const trialOf = (name: string): ((asked: Asked) => Promise<Answered>) => {
  if (imageOfferOf(name)) return known;
  const type = mediaOfferOf(name)?.type;
  if (type === modelTypes.video) return known;
  if (type === modelTypes.textToSpeech) return speak;
  return type === modelTypes.speechToText ? hear : chat;
};

const factorOf = (name: string): number =>
  (imageOfferOf(name) ?? mediaOfferOf(name) ?? priceOfName(name)).factor;

/** Which model is tried, and which are offered where nobody says otherwise. */
interface Wanted {
  /** The one to try; left out: the first that is usual. */
  model?: string | undefined;
  /** What it should have, before it was asked what it has. */
  wanted?: readonly string[] | undefined;
}

const tryChatService = async (
  kind: ChatServiceKind,
  place: Place,
  { model, wanted = [] }: Wanted,
): Promise<Trial> => {
  const signal = AbortSignal.timeout(patience);
  let names: string[] = [];
  let listing: unknown;
  try {
    names = await chatServices[kind].models(place, signal);
  } catch (error) {
    listing = error;
  }
  const usual = usualModels(names, wanted);
  const models = names
    .filter((name) => isChatModel(name) || imageOfferOf(name) || mediaOfferOf(name))
    .map((name) => ({ name, factor: factorOf(name), usual: usual.includes(name) }));
  // What gives no list may have what it should have all the same.
  const chosen = model || (usual[0] ?? models[0]?.name ?? wanted[0]);
  if (chosen === undefined)
    return listing
      ? failure(reasonOf(listing))
      : failure('连上了，但它没有这里能用的模型；请写一个模型名再试', models);
  const act = trialOf(chosen);
  if (listing && act === known) return failure(reasonOf(listing));
  const begun = performance.now();
  try {
    // The list may come without a key while an answer needs one, and the other way round.
    const asked = { kind, place, model: chosen, signal };
    const { message, firstMs, thinking: words, tools: can } = await act(asked);
    const latency = Math.round(firstMs ?? performance.now() - begun);
    return {
      ok: true,
      message,
      latency: act === known ? null : latency,
      models,
      model: chosen,
      ...(words ? { thinking: { model: chosen, words } } : {}),
      ...(can === undefined ? {} : { tools: { model: chosen, can } }),
    };
  } catch (error) {
    return failure(`${chosen}：${reasonOf(error)}`, models);
  }
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

/** One question that costs nothing, and to which only a wrong key is answered with 401 or 403. */
const tryQuestion = async (
  url: string,
  headers: Record<string, string>,
  fine: (status: number) => string | null,
): Promise<Trial> => {
  const begun = performance.now();
  try {
    const answer = await fetch(url, {
      headers,
      signal: AbortSignal.timeout(patience),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    const { status } = answer;
    if (status === 401 || status === 403) return failure(refused(status));
    const message = fine(status);
    if (message === null) return failure(`服务回答 ${status}`);
    return { ok: true, message, latency: Math.round(performance.now() - begun), models: [] };
  } catch (error) {
    return failure(reasonOf(error));
  }
};

const tryMidjourney = (baseUrl: string, secret: string): Promise<Trial> => {
  const below = baseUrl.replace(/\/+$/, '').replace(/\/mj$/, '');
  return tryQuestion(
    `${below}/mj/task/0/fetch`,
    secret === '' ? {} : { 'mj-api-secret': secret },
    // Who has no such work says so by nothing, or by 404.
    (status) => (status < 300 || status === 404 ? '连上了，密钥没有被拒绝' : null),
  );
};

const tryStability = (baseUrl: string, apiKey: string): Promise<Trial> =>
  tryQuestion(
    `${baseUrl.replace(/\/+$/, '')}/v1/user/balance`,
    { authorization: `Bearer ${apiKey}` },
    (status) =>
      status < 300
        ? '连上了，密钥可以用'
        : status === 404
          ? '地址有回应。做一段视频，就知道密钥对不对'
          : null,
  );

const tryEmbedding = async (
  baseUrl: string,
  apiKey: string,
  { model, wanted = [] }: Wanted,
): Promise<Trial> => {
  const signal = AbortSignal.timeout(patience);
  let names: string[] = [];
  let listing: unknown;
  try {
    names = await listModels({ baseUrl, apiKey }, signal);
  } catch (error) {
    listing = error;
  }
  const known = wanted.find((name) => names.includes(name));
  const chosen = model || (known ?? names.find(isEmbeddingModel) ?? wanted[0]);
  const models = names
    .filter(isKnowledgeModel)
    .map((name) => ({ name, factor: 0, usual: name === chosen }));
  if (!chosen) return failure(listing ? reasonOf(listing) : '请写一个向量模型的名字再试', models);
  const begun = performance.now();
  try {
    const engine = createOpenAiEmbedding({ baseUrl, nextKey: () => apiKey, model: chosen });
    const { vectors } = await engine.embed(['你好'], signal);
    const latency = Math.round(performance.now() - begun);
    // Whoever does not take several texts together is not judged.
    const measured = await calibrate(engine, signal).catch(() => null);
    const doubt =
      measured?.chinese.chinese.knows === false
        ? '，但分不清中文句子的意思：中文资料仍只按词来找'
        : '';
    const size = (vectors[0]?.length ?? 0) / 4;
    const message = `${chosen} 给出 ${size} 维向量${doubt}`;
    return { ok: true, message, latency, models, model: chosen };
  } catch (error) {
    return failure(`${chosen}：${reasonOf(error)}`, models);
  }
};

const tryReplicate = (baseUrl: string, token: string): Promise<Trial> =>
  tryQuestion(
    `${baseUrl.replace(/\/+$/, '')}/account`,
    { authorization: `Bearer ${token}` },
    (status) =>
      status < 300
        ? '连上了，密钥可以用'
        : status === 404
          ? '地址有回应。训练一次，就知道密钥对不对'
          : null,
  );

const trySearch = async (fetch: GuardedFetch, service: SearchService): Promise<Trial> => {
  const begun = performance.now();
  try {
    const found = await searchWeb(fetch, service, '天气');
    const message = `连上了，搜“天气”有 ${found.length} 条结果${found[0] ? `，第一条：${found[0].title}` : ''}`;
    return { ok: true, message, latency: Math.round(performance.now() - begun), models: [] };
  } catch (error) {
    return failure(error instanceof SearchError ? error.message : reasonOf(error));
  }
};

/** Asks a service what it has and lets it answer once. Never throws: what went wrong is told. */
export const tryService = (
  fetch: GuardedFetch,
  {
    kind,
    baseUrl,
    secret,
    wire,
    search,
    ...asked
  }: {
    kind: ChannelKind;
    baseUrl: string;
    secret: string;
    /** What goes with each chat, and the way it takes. */
    wire: Omit<Place, 'baseUrl' | 'apiKey'>;
    search?: SearchPaths | undefined;
  } & Wanted,
): Promise<Trial> => {
  if (isChatService(kind)) return tryChatService(kind, { baseUrl, apiKey: secret, ...wire }, asked);
  if (searches(kind)) return trySearch(fetch, { kind, baseUrl, apiKey: secret, paths: search });
  if (kind === 'embedding') return tryEmbedding(baseUrl, secret, asked);
  if (kind === 'replicate') return tryReplicate(baseUrl, secret);
  if (kind === 'stable-diffusion-webui') return tryWebui(baseUrl, secret);
  return kind === 'midjourney' ? tryMidjourney(baseUrl, secret) : tryStability(baseUrl, secret);
};
