import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { jobs, sessions } from '../db/schema.ts';

/** How jobs stand, with what is told of them to those who asked for them. */
export const readForNews = (db: Executor, uuids: readonly string[]) =>
  db
    .select({
      id: jobs.id,
      uuid: jobs.uuid,
      userId: jobs.userId,
      kind: jobs.kind,
      state: jobs.state,
      words: jobs.title,
      errorMessage: jobs.errorMessage,
      deductTokens: jobs.deductTokens,
      subjectId: jobs.subjectId,
      historyId: jobs.historyId,
      sessionUuid: sessions.uuid,
      title: sessions.prompt,
    })
    .from(jobs)
    .leftJoin(sessions, eq(sessions.id, jobs.sessionId))
    .where(and(inArray(jobs.uuid, uuids), isNull(sessions.deletedAt)));
