import { type ChatMessage, textOf } from '#common/chat-message.ts';
import type { StoredSource } from '#contract/embedding.ts';
import { isFree } from '#contract/price.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import type { Waiter } from '#server/fair-queue.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { find as findScenario } from '../scenario/scenario.service.ts';
import { basesOf, type SessionRow } from '../session/session.service.ts';
import { addressesIn } from '../tool/read-page.ts';
import * as store from './chat.store.ts';
import { exchangeSizes, lastWithFiles, readSummary, type Summary } from './context.store.ts';
import { buildMessages, historyLength, withTemplate, type Generation } from './prompt.ts';
import { contentOf, fullRoom, type Attachments, type Question } from './question.ts';
import { maxPromptOf, roomOf, tooLong } from './reply-plan.ts';

export {
  allShown,
  cacheUse,
  editSummary,
  endCondensing,
  exchangeSizes,
  exchangeWords,
  isCondensing,
  putSummary,
  readSummary,
  setReadFrom,
  type Size,
  type Summary,
  takeCondensing,
} from './context.store.ts';
export { lockSession } from './marks.store.ts';

export type Asked = Generation & { strict_mode?: 0 | 1 | undefined; web?: 0 | 1 | undefined };

/** What a reply is to be written to. */
export interface Task extends Question {
  session: SessionRow;
  /** Whose question it is. */
  userId: number;
  withTemplate: boolean;
  /** The message before it; undefined: the last one shown. */
  prevId?: number;
  /** Of a temporary session: what was said before, oldest first. */
  context?: readonly { human: string; ai: string }[];
}

/** Exchanges that are read where their person let a model read from a message on. */
const mostRead = 1000;

/** What a model reads of a session before a question. */
export interface ReadBefore {
  /** Newest first, as many as fit. */
  exchanges: { id: number; human: ChatMessage['content']; ai: string }[];
  summary: Summary | null;
  /** Exchanges that are read at most; null: all from a message on. */
  recent: number | null;
}

type Earlier = Awaited<ReturnType<typeof store.answeredExchanges>>;

/** Exchanges, and behind them the last exchange that came with files, where none of these did. */
const withFiles = async (
  db: Executor,
  { session, request }: Task,
  earlier: Earlier,
): Promise<Earlier> => {
  const said = [request, ...earlier.map((exchange) => exchange.request)];
  const oldest = earlier.at(-1)?.id;
  if (oldest === undefined || said.some((each) => (each?.files ?? []).length > 0)) return earlier;
  const id = await lastWithFiles(db, session.id, oldest);
  if (id === null) return earlier;
  const of = { sessionId: session.id, from: id, upTo: id, limit: 1 };
  return [...earlier, ...(await store.answeredExchanges(db, of))];
};

/** From where on exchanges fit: those before are not even read, however long they are. */
const earliestFitting = async (
  db: Executor,
  sessionId: number,
  { begins, upTo = Infinity, room }: { begins: number; upTo?: number | undefined; room: number },
): Promise<number> => {
  let left = room;
  let from = begins;
  for (const { id, chars } of await exchangeSizes(db, sessionId, begins - 1)) {
    if (id > upTo) continue;
    left -= chars;
    if (left < 0) return from === begins ? id : from;
    from = id;
  }
  return from;
};

export const createConversation = ({
  attachments,
  knowledge,
}: {
  attachments: Attachments;
  knowledge: Pick<KnowledgeService, 'on' | 'mayAsk'>;
}) => {
  /** What was said before a message, newest first, and what stands for what is older. */
  const earlierIn = async (
    db: Executor,
    session: SessionRow,
    asked: Asked,
    room: number,
    upTo?: number,
  ): Promise<{ earlier: Earlier; summary: Summary | null; recent: number | null }> => {
    const embedding = basesOf(session).length > 0;
    // Whoever names a length in the call has it, whatever was chosen on the page.
    const recent =
      session.readFrom !== null && asked.max_history === undefined
        ? null
        : historyLength(asked, session.ownerSetting, { embedding });
    // A session without a title has no message yet.
    if (recent === 0 || session.prompt === '' || upTo === 0)
      return { earlier: [], summary: null, recent };
    const of = { sessionId: session.id, upTo };
    if (recent !== null || session.readFrom === null)
      return {
        earlier: await store.answeredExchanges(db, { ...of, limit: recent ?? 0 }),
        summary: null,
        recent,
      };
    const made = await readSummary(db, session.id);
    const summary = made && (upTo === undefined || made.upTo <= upTo) ? made : null;
    const begins = summary ? summary.upTo + 1 : session.readFrom;
    const from = await earliestFitting(db, session.id, { begins, upTo, room });
    const earlier = await store.answeredExchanges(db, { ...of, from, limit: mostRead });
    return { earlier, summary, recent };
  };

  /**
   * Gives messages as a model gets them, with what goes along as far as there is room; null: a
   * scenario makes one too long.
   */
  const contents = async (db: Executor, session: SessionRow, model: ResolvedModel) => {
    const template =
      session.scenarioId === null ? null : await findScenario(db, session.scenarioId);
    const maxPrompt = maxPromptOf(model);
    const room = fullRoom(roomOf(model));
    const content = async (said: Question & { withTemplate: boolean; userId: number }) => {
      const human =
        template && said.withTemplate
          ? withTemplate(template.prompt, said.human, maxPrompt)
          : said.human;
      if (human === null) return null;
      const question = { human, request: said.request, userId: said.userId };
      return contentOf(db, attachments, question, { vision: model.vision, room });
    };
    /** The newest of the exchanges, as many as fit. */
    const fitting = async (earlier: Earlier, most: number) => {
      const exchanges: ReadBefore['exchanges'] = [];
      let left = most;
      for (const { id, ai, ...said } of earlier) {
        const human = await content(said);
        if (human === null) break;
        left -= textOf(human).length + ai.length;
        if (left < 0) break;
        exchanges.push({ id, human, ai });
      }
      return exchanges;
    };
    return { content, fitting };
  };

  return {
    /** The question and what was said before it, as the model gets them. */
    async ask(
      tx: Transaction,
      task: Task,
      model: ResolvedModel,
      asked: Asked,
      user: Waiter,
    ): Promise<{
      messages: ChatMessage[];
      sources: StoredSource[] | null;
      /** Addresses that whoever asks wrote here: a scenario's and other people's are not among them. */
      written: string[];
    }> {
      const { session } = task;
      const maxPrompt = roomOf(model);
      const keys = basesOf(session);
      const { content, fitting } = await contents(tx, session, model);
      const grounds =
        keys.length > 0
          ? await knowledge.on(tx, keys, task.human, session.userId, {
              mayAsk: knowledge.mayAsk(user, !isFree(model)),
              strict: asked.strict_mode === 1,
              // Nothing of a temporary one is stored, and its sources neither.
              numbered: !session.temporary,
              note: !session.temporary,
            })
          : null;
      const sources = grounds?.sources ?? null;
      const system = grounds ? [grounds.part] : '';
      const question = await content(task);
      if (question === null) throw tooLong(maxPromptOf(model));
      if (task.context) {
        const limit = historyLength(asked, session.ownerSetting, { embedding: keys.length > 0 });
        const exchanges = limit === 0 ? [] : task.context.slice(-limit).reverse();
        const messages = buildMessages(exchanges, question, maxPrompt, system);
        return { messages, sources, written: [] };
      }
      const of = await earlierIn(tx, session, asked, maxPrompt, task.prevId);
      const { summary, recent } = of;
      const earlier = model.builtIn && recent ? await withFiles(tx, task, of.earlier) : of.earlier;
      const exchanges = await fitting(earlier, maxPrompt);
      // What is older than the session was copied into it, and an imported one says what a file said.
      const own = earlier.filter(
        ({ userId, createdAt }) =>
          !session.imported && userId === task.userId && createdAt >= session.createdAt,
      );
      const written = [task, ...own].flatMap(({ human }) => addressesIn(human));
      const messages = buildMessages(exchanges, question, maxPrompt, system, summary?.text);
      return { messages, sources, written };
    },

    /** What the next question will have before it. */
    async before(db: Executor, session: SessionRow, model: ResolvedModel): Promise<ReadBefore> {
      const { earlier, summary, recent } = await earlierIn(db, session, {}, roomOf(model));
      const { fitting } = await contents(db, session, model);
      const room = roomOf(model) - (summary?.text.length ?? 0);
      return { exchanges: await fitting(earlier, room), summary, recent };
    },
  };
};
