import { besideBy, producedBy } from '#server/engines/produced.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import type { OpenAnswer, OpenContext } from '#server/http/open-handlers.ts';
import {
  beginAsking,
  type ChatAsked,
  chatModel,
  type ChatWorks,
  type InWords,
  readAsked,
} from './chat-asking.ts';
import { saidNothing, settle, settleFailure } from './chat-bill.ts';
import { createCounter } from './chat-count.ts';
import { longestAnswer } from './chat-hold.ts';
import { createMessageReader, type MessageReaderDeps } from './chat-request.ts';
import { askServices } from './chat-services.ts';
import { type Style, streamAnswer } from './chat-stream.ts';
import { usageIn, usageOf } from './chat-text.ts';
import { tellPrice } from './price-told.ts';
import { createThinkers } from './unseen-thinking.ts';
import { isLocked } from './work-signal.ts';

const asItIs: InWords = (body) => body;

/** What a whole answer says, in whatever form. */
const saidIn = (answer: Record<string, unknown>): string => producedBy(answer) + besideBy(answer);

/** Chat for programs: what is known of a request goes to the model's services, and is billed by what comes. */
export const createApiChat = (
  deps: MessageReaderDeps & Omit<ChatWorks, 'read' | 'thinkers' | 'count'>,
) => {
  const thinkers = createThinkers();
  // The thread counts what answers cost, too: one request of each person, who pays nothing for it.
  const turn = createFairQueue(1, 8);
  const works: ChatWorks = {
    ...deps,
    read: createMessageReader(deps),
    thinkers,
    count: createCounter(thinkers, deps.log),
  };
  return {
    /** @throws Refusal where the key has no such model */
    async requireModel({ caller }: OpenContext, name: string): Promise<void> {
      await chatModel(works, caller, name);
    },

    /** How many tokens a request has, by this server's own count; nothing is paid. @throws Refusal */
    async length(context: OpenContext, given: ChatAsked): Promise<number> {
      const model = await chatModel(works, context.caller, given.model);
      const { tally } = await readAsked(works, context, model, given);
      return turn(context.caller.user, () => tally.counted(model.name));
    },

    /**
     * A whole answer, with what it took. Who goes away pays for it all the same: a service cannot be
     * stopped in it.
     * @param wanted what is wanted of an answer: one in which that is empty is none, and costs nothing
     * @throws Refusal
     */
    async whole(
      context: OpenContext,
      given: ChatAsked,
      { inWords = asItIs, wanted = saidIn }: { inWords?: InWords; wanted?: typeof saidIn } = {},
    ) {
      const asking = await beginAsking(works, context, given, false, inWords);
      try {
        const answer = await askServices(
          works,
          asking,
          (relay, body, signal, beat) => {
            // An answer that is whole comes when it is: what is known of it is that it may take long.
            const waiting = setInterval(beat, 1000);
            const end = setTimeout(() => clearInterval(waiting), longestAnswer);
            return relay.complete(body, signal).finally(() => {
              clearInterval(waiting);
              clearTimeout(end);
            });
          },
          { firstMs: longestAnswer, begun: () => false },
        );
        const told = usageIn(answer);
        if (wanted(answer) === '') throw await saidNothing(asking, told);
        const said = told ? producedBy(answer) : saidIn(answer);
        const counted = await works.count(asking, told, said);
        const usage = usageOf(counted, answer['usage']);
        const whole = { ...answer, model: asking.model.name, usage };
        const deducted = await settle(works, asking, counted, whole);
        tellPrice(context, deducted);
        // A deleted key is told nothing any more.
        if (isLocked(context.signal.reason)) throw context.signal.reason;
        return { answer: whole, counted, deducted };
      } catch (error) {
        await settleFailure(works, asking, '');
        throw error;
      }
    },

    /** An answer in events (see `streamAnswer`). @throws Refusal */
    async stream(
      context: OpenContext,
      given: ChatAsked,
      style: Style,
      inWords: InWords = asItIs,
    ): Promise<OpenAnswer> {
      return streamAnswer(works, await beginAsking(works, context, given, true, inWords), style);
    },
  };
};
export type ApiChat = ReturnType<typeof createApiChat>;
