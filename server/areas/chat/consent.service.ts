import type { Parsed } from '#contract/calls.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import { requireUsable } from '../model/usable.ts';
import { writableSession } from '../session/session.service.ts';
import type { ToolAnswer } from '../tool/tool.ts';
import { contentOf } from '../tool/tool-questions.ts';
import { findMessage } from './chat.store.ts';
import { requestOf } from './dead-replies.ts';
import * as loops from './loop.store.ts';
import type { ReplyRequest } from './reply.ts';
import { ReplyLog } from './reply-log.ts';
import { readUnfinished } from './reply.store.ts';

const refused = '用户不同意这一步。';
const unanswered = '用户没有回答工具服务的问题，这一步没有做。';

/** What is answered is kept with the loop until it ends: the call is made again with it. */
const keepAnswer = async (tx: Transaction, id: number, call: string, answer: ToolAnswer) => {
  const loop = await loops.readLoop(tx, id);
  if (!loop) throw new Refusal('model_unavailable');
  const { answers = {} } = loop;
  const all = [...(answers[call] ?? []), answer];
  await loops.saveLoop(tx, id, { ...loop, answers: { ...answers, [call]: all } });
};

/**
 * Takes what a person answered to a call that asks. Once nothing asks any more the reply goes on:
 * then what it goes on from is given.
 */
export const answerTool = (
  { models, owner }: { models: Pick<ModelService, 'find'>; owner: number },
  db: Executor,
  input: Parsed<'answerTool'>,
  user: Identity,
) =>
  inTransaction(db, async (tx) => {
    const session = await writableSession(tx, input.session_id, user);
    const message = await findMessage(tx, input.history_id);
    // Whoever asked pays for it, and is the one who is asked.
    if (message?.sessionId !== session.id || message.userId !== user.id)
      throw new Refusal('not_found');
    const tools = await loops.lockWaiting(tx, message.id);
    const asked = tools?.find(({ id, state }) => id === input.call_id && state === 'asking');
    if (!tools || !asked) throw new Refusal('not_found', '这一步已经不在等回答了');
    const yes = input.answer !== 'no';
    const { question } = asked;
    // A question is answered each time.
    const always = input.answer === 'session' && !question;
    if (question && yes)
      await keepAnswer(tx, message.id, asked.id, {
        question,
        content: contentOf(question, input.answers ?? {}),
      });
    if (always) await loops.grantTool(tx, session.id, asked.name);
    // What is let run from now on is not asked about again, here neither.
    const same = (each: (typeof tools)[number]) =>
      each === asked ||
      (always && each.name === asked.name && each.state === 'asking' && !each.question);
    const next = tools.map((each) => {
      if (!same(each)) return each;
      const { sign_in: _over, question: _answered, ...call } = each;
      return yes
        ? { ...call, state: 'agreed' as const }
        : { ...call, state: 'refused' as const, result: question ? unanswered : refused };
    });
    const asking = next.some(({ state }) => state === 'asking');
    if (!(await loops.answerWaiting(tx, message.id, next, asking ? null : owner)))
      throw new Refusal('session_busy');
    if (asking) return { tools: next, goesOn: null };
    const row = await readUnfinished(tx, message.id);
    const loop = await loops.readLoop(tx, message.id);
    const model = row && (await models.find(tx, row.model, user));
    if (!row || !loop || !model) throw new Refusal('model_unavailable');
    await requireUsable(tx, model, user);
    const goesOn: [ReplyRequest, ReplyLog] = [requestOf(row, model, loop), ReplyLog.of(row)];
    return { tools: next, goesOn };
  });
