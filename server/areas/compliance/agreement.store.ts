import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { AgreedTo } from '#contract/agreement.ts';
import { agreementKinds, type AgreementKind } from '#contract/agreement-kinds.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import { statement } from '#server/db/statement.ts';
import { agreements, consents } from './compliance.tables.ts';

type Row = typeof agreements.$inferSelect;

/** The version of each text that counts now, in their order; one that was ended is left out. */
export const currentAgreements = async (db: Executor): Promise<Row[]> => {
  const rows = await db
    .selectDistinctOn([agreements.kind])
    .from(agreements)
    .orderBy(agreements.kind, desc(agreements.version));
  return rows
    .filter(({ text }) => text !== '')
    .sort((one, other) => agreementKinds.indexOf(one.kind) - agreementKinds.indexOf(other.kind));
};

/** Writes a new version; gives its number. */
export const insertAgreement = async (
  db: Executor,
  kind: AgreementKind,
  text: string,
): Promise<number> => {
  const [row] = await db
    .insert(agreements)
    .values({
      kind,
      text,
      version: sql`(SELECT coalesce(max(version), 0) + 1 FROM agreements WHERE kind = ${kind})`,
    })
    .returning();
  if (!row) throw new Error('no version was written');
  return row.version;
};

/** What a person's consents in force are. */
export const consentsOf = (db: Executor, userId: number) =>
  db
    .select()
    .from(consents)
    .where(and(eq(consents.userId, userId), isNull(consents.withdrawnAt)));

export const insertConsents = async (
  db: Executor,
  userId: number,
  agreed: AgreedTo,
): Promise<void> => {
  if (agreed.length === 0) return;
  await db
    .insert(consents)
    .values(agreed.map((each) => ({ userId, ...each })))
    .onConflictDoNothing();
};

/** Takes back what a person agreed to of a kind; whether there was any. */
export const withdrawConsents = async (
  db: Executor,
  userId: number,
  kind: AgreementKind,
): Promise<boolean> => {
  const gone = await db
    .update(consents)
    .set({ withdrawnAt: sql`now()` })
    .where(and(eq(consents.userId, userId), eq(consents.kind, kind), isNull(consents.withdrawnAt)))
    .returning();
  return gone.length > 0;
};

export const consentPage = (
  db: Executor,
  { userId, offset, limit }: { userId: number | undefined; offset: number; limit: number },
) =>
  db
    .select({
      userId: consents.userId,
      userName: users.userName,
      kind: consents.kind,
      version: consents.version,
      createdAt: consents.createdAt,
      withdrawnAt: consents.withdrawnAt,
    })
    .from(consents)
    .leftJoin(users, eq(users.id, consents.userId))
    .where(userId === undefined ? undefined : eq(consents.userId, userId))
    .orderBy(desc(consents.id))
    .offset(offset)
    .limit(limit);

const missingAgreements = statement<{ kind: AgreementKind }>(
  'agreements_missing',
  `SELECT now.kind FROM compliance, LATERAL (
     SELECT DISTINCT ON (kind) kind, version, text FROM agreements ORDER BY kind, version DESC
   ) AS now
   WHERE compliance.settings ->> 'ask_agreements' = '1' AND now.text <> ''
     AND NOT EXISTS (SELECT 1 FROM consents c WHERE c.user_id = $1 AND c.kind = now.kind
       AND c.version = now.version AND c.withdrawn_at IS NULL)`,
  { shared: true },
);

/** The agreements in force that an account has not agreed to; none where nobody is asked for them. */
export const notAgreed = async (db: Executor, userId: number): Promise<AgreementKind[]> => {
  const rows = await missingAgreements(db, [userId]);
  const missing = new Set(rows.map(({ kind }) => kind));
  return agreementKinds.filter((kind) => missing.has(kind));
};

/** Consents of one person; left out: of everybody. Withdrawn ones count. */
export const countConsents = (db: Executor, userId?: number): Promise<number> =>
  countUpTo(db, consents, userId === undefined ? undefined : eq(consents.userId, userId));
