import type { FastifyBaseLogger } from 'fastify';
import { embeddingFields } from '#contract/open-fields.ts';
import { deduction, estimateTokens } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Database } from '#server/db/database.ts';
import { gramVector } from '#server/engines/embedding/built-in-embedding.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import { inBase64, relayEmbeddings } from '#server/engines/embedding/embedding-relay.ts';
import { ServiceError } from '#server/engines/service-wire.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { OpenHandlers } from '#server/http/open-routes.ts';
import { believable } from '../ledger/believable.ts';
import { openCharge } from './charge.ts';
import { mayUseModel, noSuchModel } from './chat.service.ts';
import { isTooFew, usageIn } from './chat-text.ts';
import { takeFields } from './fields.ts';
import type { Gate } from './key-limits.ts';
import { tellPrice } from './price-told.ts';
import { workSignal } from './work-signal.ts';

/** What is built in, by the name that programs call it. */
export const builtInEmbeddingModel = 'builtin-embedding';

/** Tokens taken per token that a service embeds (document 3 §9). */
const price = { promptFactor: 0.05, factor: 0.05 };

/** A vector of length 1, as OpenAI's are. */
const unitVector = (text: string): number[] => {
  const vector = gramVector(text);
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square) || 1;
  return Array.from(vector, (value) => value / length);
};

const textsOf = (input: unknown): string[] => {
  if (typeof input === 'string') return [input];
  const list = input as unknown[];
  if (list.every((each) => typeof each === 'string')) return list;
  throw new Refusal('bad_input', 'input：内置的向量模型只接受文字，不接受 token 编号');
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
}): Pick<OpenHandlers, 'createEmbeddings'> => ({
  async createEmbeddings(body, context) {
    const { model, input } = body;
    const { caller } = context;
    const builtIn = model === builtInEmbeddingModel;
    const known = builtIn || (await deps.embeddings.names()).includes(model);
    if (!known || !mayUseModel(caller, model)) throw noSuchModel(model);
    const sent = takeFields(context, embeddingFields, body, builtIn ? 'builtIn' : 'service');
    const rough = roughTokens(input);
    const left = await deps.gate.takeTokens(caller, rough);
    for (const [name, value] of Object.entries(left)) context.header(name, value);
    // Counted by letters: the service's own count may be somewhat more.
    const held = builtIn ? 0 : deduction(price, Math.ceil(rough * 1.3), 0);
    const type = sessionTypes.chat;
    const charge = await openCharge(deps, caller, {
      model,
      type,
      amount: held,
      tokens: Math.ceil(rough * 1.3),
    });
    try {
      if (builtIn) {
        const data = textsOf(input).map((text, index) => {
          const vector = unitVector(text);
          const embedding = body.encoding_format === 'base64' ? inBase64(vector) : vector;
          return { object: 'embedding', index, embedding };
        });
        await charge.settle({ promptTokens: rough, completionTokens: 0, prompt: 0, completion: 0 });
        const usage = { prompt_tokens: rough, total_tokens: rough };
        return { json: { object: 'list', data, model, usage } };
      }
      const signal = workSignal(context.signal, true);
      const service = await deps.embeddings.service();
      if (service.channelId !== null) charge.servedBy(service.channelId);
      const answer = await relayEmbeddings(service, { ...sent, model }, signal);
      const told = usageIn({
        usage: { completion_tokens: 0, ...(answer['usage'] as object | undefined) },
      });
      const counted = told && !isTooFew(told.promptTokens, rough) ? told.promptTokens : rough;
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
      if (error instanceof ServiceError) throw new Refusal(error.codeName, error.message);
      throw error;
    }
  },
});
