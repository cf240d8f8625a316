import type { KnowledgeService } from '../embedding/embedding.service.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { readableSession, type SessionRow } from '../session/session.service.ts';
import { requireVisible } from './access.ts';
import { isPage } from './page-sources.ts';
import { findMessage, sourceOf, wholeReply } from './chat.store.ts';

export const noMessage = () => new Refusal('not_found', '没有这条消息');

/** Gives the number of its session. @throws Refusal as of the session */
const requireReadable = async (
  db: Executor,
  historyId: number,
  user: Identity | null,
): Promise<SessionRow> => {
  const found = await findMessage(db, historyId);
  if (!found) throw noMessage();
  const session = await readableSession(db, String(found.sessionId), user);
  await requireVisible(db, historyId, session, user);
  return session;
};

/** A source of an answer that somebody may read. @throws Refusal not_found, embedding_missing */
export const replySource = async (
  knowledge: Pick<KnowledgeService, 'source'>,
  db: Executor,
  { history_id: historyId, n }: { history_id: number; n: number },
  user: Identity | null,
) => {
  await requireReadable(db, historyId, user);
  const kept = await sourceOf(db, historyId, n);
  if (!kept) throw new Refusal('not_found', '没有这个来源');
  // A page of the web is shown as it was read: its text is kept, and nobody asks the web again.
  if (isPage(kept)) {
    const { n, title, place, base, text, terms, url, at = null } = kept;
    const where = { stands: {}, drawn: 0, before: '', after: '', url, at };
    return { n, title, place, base, text, terms, ...where };
  }
  return knowledge.source(db, kept, user?.id ?? null);
};

/** A reply that somebody may read, with where it stands and whether that is theirs. @throws Refusal as of its session */
export const readableReply = async (
  db: Executor,
  historyId: number,
  user: Identity | null,
): Promise<{ sessionId: number; own: boolean; ai: string; human: string }> => {
  const session = await requireReadable(db, historyId, user);
  const own = user !== null && session.userId === user.id;
  return { sessionId: session.id, own, ...(await wholeReply(db, historyId)) };
};
