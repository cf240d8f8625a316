import { chatFields } from '#contract/open-fields.ts';
import { type ChatBody, type ChatRelay, RelayError } from '#server/engines/chat-relay.ts';
import { tellAdjusted, tellIgnored } from '#server/http/ignored-fields.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import { tooLate } from '../model/chat-lines.ts';
import type { Asking, ChatWorks } from './chat-asking.ts';
import { unableBy } from './fields.ts';

/** Looked at so often within the time that a service may say nothing: a timer set anew for each chunk costs more. */
const looks = 4;

const refusalOf = (error: RelayError): ApiRefusal =>
  new ApiRefusal(
    error.status === 429 ? 'too_many' : error.status >= 500 ? 'upstream' : 'bad_input',
    error.message,
    {
      status: error.status,
      type: error.type,
      code: error.code,
      ...(error.param === null ? {} : { param: error.param }),
    },
  );

/**
 * Asks the model's services, as one.
 * @param options `firstMs`: how long one may say nothing at first; `begun`: its caller has been told
 *   something
 */
export const askServices = async <T>(
  { db, models, silenceMs }: Pick<ChatWorks, 'db' | 'models' | 'silenceMs'>,
  asking: Asking,
  attempt: (relay: ChatRelay, body: ChatBody, signal: AbortSignal, beat: () => void) => Promise<T>,
  { firstMs, begun }: { firstMs: number; begun: () => boolean },
): Promise<T> => {
  const { context, model, body } = asking;
  const late = new AbortController();
  let silent = 0;
  const beat = () => (silent = 0);
  const relay = await models.relay(db, {
    model: model.name,
    userId: context.caller.user.id,
    firstMs,
    gone: context.signal,
    onLine: ({ channelId, label, adjusted }) => {
      beat();
      asking.charge.servedBy(channelId);
      asking.channelId = channelId;
      if (begun()) return;
      context.header('x-channel', encodeURIComponent(label));
      tellIgnored(context, adjusted?.ignored ?? []);
      tellAdjusted(context, adjusted?.adjusted ?? []);
    },
    words: {
      unable: (kind) => (kind ? unableBy(context, chatFields, body, kind) : null),
      of: (asked, kind) => asking.inWords(asked, model.builtIn ? 'builtIn' : (kind ?? 'service')),
    },
  });
  if (!relay)
    throw new ApiRefusal('upstream', '这个模型暂时没有可用的服务，请稍后再试', { status: 503 });
  context.signal.throwIfAborted();
  const timer = setInterval(() => {
    silent += 1;
    if (silent > looks) late.abort(tooLate());
  }, silenceMs / looks);
  asking.sent = true;
  try {
    return await attempt(relay, body, AbortSignal.any([asking.signal, late.signal]), beat);
  } catch (error) {
    if (asking.signal.aborted) throw asking.signal.reason;
    throw error instanceof RelayError ? refusalOf(error) : error;
  } finally {
    clearInterval(timer);
  }
};
