import { callTable } from '#common/call-table.ts';
import type { PlainCallName } from '#contract/calls.ts';
import { forgetEarly } from './early.ts';
import { heldRun, within } from './run.ts';
import { loadOutbox } from './load-outbox.ts';
import { isAboutFresh, refOf, unsentHooks } from './unsent.ts';
import { serverApi, type Api, type ApiOptions } from './server-api.ts';

type Call = (input: object, options?: ApiOptions) => Promise<unknown>;

/** Of a session that the server does not have yet the outbox answers; undefined: the server has to. */
const answerForFresh = async (name: PlainCallName, input: object): Promise<unknown> => {
  if (!isAboutFresh(name, input)) return undefined;
  forgetEarly(String(refOf(input)));
  if (!unsentHooks()) await (await loadOutbox()).ready();
  return unsentHooks()?.local(name, input);
};

/**
 * Every call of the contract, by its name: `api.newSession({ type: 0 })`. What waits in the outbox
 * shows in the answers. Rejects with ApiError, or with the abort's DOMException (`isCancelled`) when
 * the caller cancelled.
 */
export const api = Object.fromEntries(
  (Object.keys(callTable) as PlainCallName[]).map((name) => {
    const call = serverApi[name] as Call;
    const asked: Call = async (input, options) => {
      const run = heldRun();
      const fresh = await answerForFresh(name, input);
      if (fresh !== undefined) return fresh;
      const data = await (run ? within(run, () => call(input, options)) : call(input, options));
      return unsentHooks()?.over(name, input, data as never) ?? data;
    };
    return [name, asked];
  }),
) as unknown as Api;
