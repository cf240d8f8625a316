import { apiUrl } from '../openai-compatible/address.ts';
import { createWire, jsonOf, ServiceError } from '../service-wire.ts';

const { ask, refusedBy, senselessReply } = createWire('向量服务', ServiceError);

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
  if (!Array.isArray(answer?.['data'])) throw senselessReply();
  return answer;
};
