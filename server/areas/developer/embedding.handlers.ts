import { setImmediate } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { embeddingFields } from '#contract/open-fields.ts';
import { deduction, estimateTokens } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Database } from '#server/db/database.ts';
import { gramVector } from '#server/engines/embedding/built-in-embedding.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import { EmbeddingError } from '#server/engines/embedding/embedding-engine.ts';
import { inBase64, relayEmbeddings } from '#server/engines/embedding/embedding-relay.ts';
import { ServiceError } from '#server/engines/service-wire.ts';
import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { OpenHandlers } from '#server/http/open-handlers.ts';
import { believable } from '../ledger/believable.ts';
import { openCharge } from './charge.ts';
import { mayUseModel, noSuchModel } from './key-models.ts';
import { isTooFew, usageIn } from './chat-text.ts';
import { takeFields } from './fields.ts';
import type { Gate } from './key-limits.ts';
import { tellPrice } from './price-told.ts';
import { workSignal } from './work-signal.ts';

/** What is built in, by the name that programs call it. */
export const builtInEmbeddingModel = 'builtin-embedding';

/** Tokens taken per token that a service embeds (document 3 §9); nothing on this machine. */
const price = { promptFactor: 0.05, factor: 0.05 };
/** Texts of one request that this machine embeds, and UTF-16 units of one. */
const mostTexts = 256;
const longestText = 100_000;

/** A vector of length 1, as OpenAI's are. */
const unitVector = (text: string): number[] => {
  const vector = gramVector(text);
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square) || 1;
  return Array.from(vector, (value) => value / length);
};

/** The 32-bit floats of a vector. */
const numbersIn = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));

/** Letters after which whoever else this process serves has a turn. */
const lettersAtOnce = 20_000;

const unitVectors = async (texts: readonly string[], signal: AbortSignal): Promise<number[][]> => {
  const vectors = [];
  let letters = 0;
  for (const text of texts) {
    vectors.push(unitVector(text));
    letters += text.length;
    if (letters < lettersAtOnce) continue;
    letters = 0;
    await setImmediate();
    signal.throwIfAborted();
  }
  return vectors;
};

const textsOf = (input: unknown): string[] => {
  if (typeof input === 'string') return [input];
  const list = input as unknown[];
  if (list.every((each) => typeof each === 'string')) return list;
  throw new Refusal('bad_input', 'input：这个向量模型只接受文字，不接受 token 编号');
};

/** Of a model of this machine. */
const textsHere = (input: unknown): string[] => {
  const texts = textsOf(input);
  if (texts.length > mostTexts)
    throw new Refusal('bad_input', `input：本机的向量模型一次最多 ${mostTexts} 段`);
  const long = texts.findIndex((text) => text.length > longestText);
  if (long >= 0)
    throw new Refusal('bad_input', `input：第 ${long + 1} 段太长，本机的向量模型一段最多 10 万字`);
  return texts;
};

/** Numbers are tokens already. */
const roughTokens = (input: unknown): number =>
  typeof input === 'string'
    ? estimateTokens(input)
    : (input as unknown[]).reduce<number>(
        (sum, each) =>
          sum +
          (typeof each === 'string' ? estimateTokens(each) : Array.isArray(each) ? each.length : 1),
        0,
      );

export const createEmbeddingApi = (deps: {
  db: Database;
  embeddings: EmbeddingModels;
  gate: Pick<Gate, 'takeTokens'>;
  log: FastifyBaseLogger;
}): Pick<OpenHandlers, 'createEmbeddings'> => {
  const turn = createFairQueue(1, 4);
  /** With a model of this machine: one request at a time, in turn, so that nobody has it to themselves. */
  const here = (
    user: Waiter,
    model: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ vectors: Buffer[]; tokens: number }> => {
    return turn(user, async () => {
      const engine = await deps.embeddings.exact(model);
      if (!engine) throw noSuchModel(model);
      const all: Buffer[] = [];
      let tokens = 0;
      for (let at = 0; at < texts.length; at += engine.batch) {
        const made = await engine.embed(texts.slice(at, at + engine.batch), signal);
        all.push(...made.vectors);
        tokens += made.tokens;
      }
      return { vectors: all, tokens };
    });
  };
  return {
    async createEmbeddings(body, context) {
      const { model, input } = body;
      const { caller } = context;
      const free = (await deps.embeddings.freeNames()).includes(model);
      const builtIn = model === builtInEmbeddingModel;
      const known = builtIn || (await deps.embeddings.names()).includes(model);
      if (!known || !mayUseModel(caller, model)) throw noSuchModel(model);
      const sent = takeFields(context, embeddingFields, body, builtIn ? 'builtIn' : 'service');
      const rough = roughTokens(input);
      const left = await deps.gate.takeTokens(caller, rough);
      for (const [name, value] of Object.entries(left)) context.header(name, value);
      // Counted by letters: the service's own count may be somewhat more.
      const held = builtIn || free ? 0 : deduction(price, Math.ceil(rough * 1.3), 0);
      const type = sessionTypes.chat;
      const charge = await openCharge(deps, caller, {
        model,
        type,
        amount: held,
        tokens: Math.ceil(rough * 1.3),
      });
      try {
        const signal = workSignal(context.signal, true);
        if (builtIn) {
          const texts = textsHere(input);
          const vectors = await turn(caller.user, () => unitVectors(texts, signal));
          const data = vectors.map((vector, index) => {
            const embedding = body.encoding_format === 'base64' ? inBase64(vector) : vector;
            return { object: 'embedding', index, embedding };
          });
          await charge.settle({
            promptTokens: rough,
            completionTokens: 0,
            prompt: 0,
            completion: 0,
          });
          const usage = { prompt_tokens: rough, total_tokens: rough };
          return { json: { object: 'list', data, model, usage } };
        }
        if (free) {
          const texts = textsHere(input);
          const { vectors, tokens } = await here(caller.user, model, texts, signal);
          const size = (vectors[0]?.length ?? 0) / 4;
          if (body.dimensions !== undefined && body.dimensions !== size)
            throw new Refusal('bad_input', `dimensions：这个向量模型只有 ${size} 维`);
          const data = vectors.map((bytes, index) => {
            const numbers = numbersIn(bytes);
            const embedding = body.encoding_format === 'base64' ? inBase64(numbers) : numbers;
            return { object: 'embedding', index, embedding };
          });
          const nothing = { completionTokens: 0, prompt: 0, completion: 0 };
          await charge.settle({ promptTokens: tokens, ...nothing });
          const usage = { prompt_tokens: tokens, total_tokens: tokens };
          return { json: { object: 'list', data, model, usage } };
        }
        const service = await deps.embeddings.service();
        if (service.channelId !== null) charge.servedBy(service.channelId);
        const told = service.begin(model);
        const answer = await relayEmbeddings(service, { ...sent, model }, signal).catch(
          (error: unknown) => {
            if (error instanceof ServiceError && error.against !== 'nothing') told(error);
            throw error;
          },
        );
        told();
        const used = usageIn({
          usage: { completion_tokens: 0, ...(answer['usage'] as object | undefined) },
        });
        const counted = used && !isTooFew(used.promptTokens, rough) ? used.promptTokens : rough;
        const asked = { promptTokens: counted, completionTokens: 0 };
        const own = () => Promise.resolve({ ...asked, promptTokens: rough });
        const { promptTokens } = await believable(price, asked, { held, own });
        const deducted = await charge.settle({
          promptTokens,
          completionTokens: 0,
          prompt: deduction(price, promptTokens, 0),
          completion: 0,
        });
        tellPrice(context, deducted);
        return { json: { ...answer, model } };
      } catch (error) {
        await charge.release(true);
        if (error instanceof EmbeddingError) throw new Refusal('engine_failed', error.message);
        if (error instanceof ServiceError) throw new Refusal(error.codeName, error.message);
        throw error;
      }
    },
  };
};
