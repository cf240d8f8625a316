import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Executor } from '../db/database.ts';
import { images, jobs, sessions } from '../db/schema.ts';

/** How jobs stand, with what is told of them to those who asked for them. */
export const readForNews = (db: Executor, uuids: readonly string[]) =>
  db
    .select({
      uuid: jobs.uuid,
      userId: jobs.userId,
      kind: jobs.kind,
      state: jobs.state,
      words: jobs.title,
      errorMessage: jobs.errorMessage,
      deductTokens: jobs.deductTokens,
      historyId: jobs.historyId,
      sessionUuid: sessions.uuid,
      title: sessions.prompt,
      pictures: sql<number>`(SELECT count(*)::int FROM ${images} WHERE job_id = ${jobs.id})`,
    })
    .from(jobs)
    .innerJoin(sessions, eq(sessions.id, jobs.sessionId))
    .where(and(inArray(jobs.uuid, uuids), isNull(sessions.deletedAt)));
