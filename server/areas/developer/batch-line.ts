import type { FastifyBaseLogger } from 'fastify';
import { calls } from '#contract/calls.ts';
import type { Database } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { failureBody, statusIn } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenContext } from '#server/http/open-handlers.ts';
import { readInput } from '#server/http/validate.ts';
import type { RunningCalls } from '#server/http/running-calls.ts';
import * as store from './batch.store.ts';
import type { ChatAsked } from './chat-asking.ts';
import type { ApiChat } from './chat.service.ts';
import type { Gate } from './key-limits.ts';

/** How often a line is tried where its service, or a bound of its key, may be better later. */
const mostTries = 5;
const longestWait = 10 * 60_000;

/** What lines in bulk cost of the price. */
const bulkFactor = 0.5;

/** Another process took the line over: what this one had of it is not paid. */
class TakenOver extends Error {}

export interface LineDeps {
  db: Database;
  chat: Pick<ApiChat, 'whole'>;
  gate: Pick<Gate, 'callerOf' | 'watch'>;
  running: RunningCalls;
  log: FastifyBaseLogger;
}

const answer = async (
  { db, chat, gate, running, log }: LineDeps,
  line: store.ClaimedLine,
  claim: store.Claim,
): Promise<void> => {
  const known = await gate.callerOf(line.key_id);
  const caller: ApiCaller = {
    ...known,
    priceFactor: bulkFactor,
    /** In the transaction that pays: neither is there without the other. */
    alongside: async (tx, json) => {
      const told = { status_code: 200, request_id: claim.claim, body: json };
      if (!(await store.endLine(tx, claim, 'done', told))) throw new TakenOver();
    },
  };
  const gone = new AbortController();
  const unwatch = gate.watch(caller, () =>
    gone.abort(new Refusal('unauthorized', '这个 API-KEY 已被删除或停用')),
  );
  const context: OpenContext = {
    caller,
    db,
    requestId: claim.claim,
    log,
    signal: gone.signal,
    // Few lines are worked on at once.
    hold: () => undefined,
    files: [],
    origin: '',
    header: () => undefined,
    asked: () => '',
  };
  try {
    const input = readInput(calls.chatCompletions, {}, line.body) as ChatAsked;
    const { stream: _, stream_options: __, ...asked } = input;
    await running.keep(chat.whole(context, asked as ChatAsked), () =>
      gone.abort(new Refusal('unavailable')),
    );
  } finally {
    unwatch();
  }
};

/** Works on a line that this process has claimed: it is answered and paid, put back, or has failed. */
export const workOnLine = async (
  deps: LineDeps,
  line: store.ClaimedLine,
  claim: store.Claim,
): Promise<void> => {
  const { db, log } = deps;
  try {
    await answer(deps, line, claim);
  } catch (error) {
    if (error instanceof TakenOver) return;
    const refusal =
      error instanceof Refusal ? error : new Refusal('internal', '服务器出错，这一行没有做');
    if (!(error instanceof Refusal)) log.error({ err: error }, 'a line of a batch failed');
    if (refusal.codeName === 'unavailable') return store.putBackLine(db, claim, 0);
    const status = statusIn(refusal);
    if ((status >= 500 || status === 429) && line.tries < mostTries)
      return store.putBackLine(db, claim, Math.min(longestWait, 2_000 * 4 ** (line.tries - 1)));
    const body = failureBody('openai', refusal);
    await store.endLine(db, claim, 'failed', { status_code: status, body });
  }
};
