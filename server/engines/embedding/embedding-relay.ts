import { apiUrl } from '../openai-compatible/address.ts';
import { createWire, jsonOf, ServiceError } from '../service-wire.ts';

const { ask, refusedBy, senselessReply } = createWire('向量服务', ServiceError);

export const inBase64 = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64');

/** OpenAI's own clients ask for base64 and read nothing else; many services know numbers alone. */
const allInBase64 = (data: unknown[]): unknown[] =>
  (data as { embedding?: unknown }[]).map((each) =>
    Array.isArray(each?.embedding)
      ? { ...each, embedding: inBase64(each.embedding as number[]) }
      : each,
  );

/** Passes a request for embeddings on as it came, and its answer back. @throws ServiceError */
export const relayEmbeddings = async (
  service: { baseUrl: string; apiKey: string },
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> => {
  const reply = await ask(apiUrl(service.baseUrl, 'embeddings'), {
    method: 'POST',
    headers: service.apiKey === '' ? {} : { authorization: `Bearer ${service.apiKey}` },
    json: body,
    signal,
  });
  if (reply.status !== 200) throw refusedBy(reply.status);
  const answer = jsonOf(reply.body) as Record<string, unknown> | null;
  const data: unknown = answer?.['data'];
  if (!answer || !Array.isArray(data)) throw senselessReply();
  return body['encoding_format'] === 'base64' ? { ...answer, data: allInBase64(data) } : answer;
};
