import { codeNumbers } from '#contract/page-errors.ts';
import { ApiError } from './api-error.ts';
import { api } from './api.ts';
import { inIdleTime } from './idle.ts';

export type Outcome = 'success' | 'error' | 'stop';

/** Refusals that say something of the model, and not of whoever asked or of what was asked. */
const ofTheModel: ReadonlySet<number> = new Set([
  codeNumbers.model_unavailable,
  codeNumbers.engine_failed,
  codeNumbers.engine_timeout,
  codeNumbers.upstream,
  codeNumbers.internal,
  codeNumbers.unavailable,
]);

/** How a request ended that was refused. */
export const outcomeOf = (code: number): Outcome => (ofTheModel.has(code) ? 'error' : 'stop');

/**
 * Tells the server how quick a model was, and how it went. Nobody waits for it, and its loss harms
 * nobody.
 * @param asked when, ms since 1970
 * @param first after so many ms the first of it came; left out: with all of it
 */
export const reportTime = (of: {
  model: string;
  state: Outcome;
  asked: number;
  time: number;
  first?: number;
}): void => {
  const { model, state, asked, time, first = time } = of;
  if (model === '') return;
  const report = {
    state,
    first_time: Math.round(first),
    time: Math.round(time),
    model,
    request_time: new Date(asked).toISOString(),
  };
  inIdleTime(() => {
    api.modelStat(report, { quiet: true, keepalive: true }).catch(() => {});
  });
};

/** The same of what the server did not take. What never reached it says nothing of any model. */
export const reportRefused = (model: string, asked: number, error: unknown): void => {
  if (!(error instanceof ApiError) || error.status === 0) return;
  reportTime({ model, state: outcomeOf(error.code), asked, time: Date.now() - asked });
};
