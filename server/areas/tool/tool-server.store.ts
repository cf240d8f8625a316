import { and, asc, count, eq, inArray, isNull, notInArray, or, sql } from 'drizzle-orm';
import type { Executor } from '#server/db/database.ts';
import { toolServers, toolServerTools } from './tool.tables.ts';

export type ServerRow = typeof toolServers.$inferSelect;
export type ToolRow = typeof toolServerTools.$inferSelect;

const seenBy = (userId: number) => or(eq(toolServers.userId, userId), isNull(toolServers.userId));

/** Everybody's and a person's own, oldest first. */
export const serversOf = (db: Executor, userId: number): Promise<ServerRow[]> =>
  db
    .select()
    .from(toolServers)
    .where(seenBy(userId))
    .orderBy(sql`${toolServers.userId} NULLS FIRST`, asc(toolServers.id));

export const findServer = async (db: Executor, id: number): Promise<ServerRow | null> => {
  const [row] = await db.select().from(toolServers).where(eq(toolServers.id, id));
  return row ?? null;
};

/** @param userId null: everybody's */
export const countServers = async (db: Executor, userId: number | null): Promise<number> => {
  const of = userId === null ? isNull(toolServers.userId) : eq(toolServers.userId, userId);
  const [row] = await db.select({ n: count() }).from(toolServers).where(of);
  return row?.n ?? 0;
};

/** Keeps others from adding servers for the same people until the transaction ends. */
export const lockServers = async (tx: Executor, userId: number | null): Promise<void> => {
  await tx.execute(
    sql`SELECT pg_advisory_xact_lock(hashtextextended(${`tool servers ${userId}`}, 0))`,
  );
};

export const insertServer = async (
  db: Executor,
  values: typeof toolServers.$inferInsert,
): Promise<number> => {
  const [row] = await db.insert(toolServers).values(values).returning({ id: toolServers.id });
  if (!row) throw new Error('the server of tools was not stored');
  return row.id;
};

export const changeServer = async (
  db: Executor,
  id: number,
  values: Partial<typeof toolServers.$inferInsert>,
): Promise<void> => {
  await db.update(toolServers).set(values).where(eq(toolServers.id, id));
};

export const removeServer = async (db: Executor, id: number): Promise<void> => {
  await db.delete(toolServers).where(eq(toolServers.id, id));
};

export const toolsOf = (db: Executor, serverIds: readonly number[]): Promise<ToolRow[]> =>
  db
    .select()
    .from(toolServerTools)
    .where(inArray(toolServerTools.serverId, [...serverIds]))
    .orderBy(asc(toolServerTools.serverId), asc(toolServerTools.sort));

/** Writes what a server offers now; what was agreed to stays noted. */
export const storeTools = async (
  db: Executor,
  serverId: number,
  tools: readonly Omit<ToolRow, 'serverId' | 'agreedDigest' | 'sort'>[],
): Promise<void> => {
  const names = tools.map(({ name }) => name);
  await db
    .delete(toolServerTools)
    .where(
      and(
        eq(toolServerTools.serverId, serverId),
        names.length > 0 ? notInArray(toolServerTools.name, names) : undefined,
      ),
    );
  for (const [sort, tool] of tools.entries()) {
    const { name, description, parameters, digest } = tool;
    await db
      .insert(toolServerTools)
      .values({ serverId, name, description, parameters, digest, sort })
      .onConflictDoUpdate({
        target: [toolServerTools.serverId, toolServerTools.name],
        set: { description, parameters, digest, sort },
      });
  }
};

/** Turns on what is named as it stands now, and everything else off. */
export const agreeTo = async (
  db: Executor,
  serverId: number,
  chosen: readonly { name: string; digest: string }[],
): Promise<void> => {
  await db
    .update(toolServerTools)
    .set({ agreedDigest: '' })
    .where(eq(toolServerTools.serverId, serverId));
  for (const { name, digest } of chosen)
    await db
      .update(toolServerTools)
      .set({ agreedDigest: digest })
      .where(
        and(
          eq(toolServerTools.serverId, serverId),
          eq(toolServerTools.name, name),
          eq(toolServerTools.digest, digest),
        ),
      );
};

export interface OfferedRow {
  tool: ToolRow;
  server: Pick<ServerRow, 'id' | 'name' | 'userId'>;
}

const isOffered = (userId: number | null) =>
  and(
    userId === null ? isNull(toolServers.userId) : seenBy(userId),
    eq(toolServers.enabled, true),
    eq(toolServerTools.agreedDigest, toolServerTools.digest),
  );

/** What a person's models may be offered. @param userId null: everybody's alone */
export const offeredTools = (
  db: Executor,
  userId: number | null,
  most: number,
): Promise<OfferedRow[]> =>
  db
    .select({
      tool: toolServerTools,
      server: { id: toolServers.id, name: toolServers.name, userId: toolServers.userId },
    })
    .from(toolServerTools)
    .innerJoin(toolServers, eq(toolServers.id, toolServerTools.serverId))
    .where(isOffered(userId))
    .orderBy(asc(toolServers.id), asc(toolServerTools.sort))
    .limit(most);

/** The digests of the same alone. */
export const offeredDigests = async (
  db: Executor,
  userId: number | null,
  most: number,
): Promise<string[]> => {
  const rows = await db
    .select({ digest: toolServerTools.digest })
    .from(toolServerTools)
    .innerJoin(toolServers, eq(toolServers.id, toolServerTools.serverId))
    .where(isOffered(userId))
    .orderBy(asc(toolServers.id), asc(toolServerTools.sort))
    .limit(most);
  return rows.map(({ digest }) => digest);
};

/** How the last connection went. @param login what it then says of a sign-in; left out: as it was */
export const noteServer = (
  db: Executor,
  id: number,
  error: string | null,
  login?: ServerRow['login'],
): Promise<void> =>
  changeServer(db, id, {
    ...(error === null
      ? { lastError: '', lastOkAt: new Date() }
      : { lastError: error.slice(0, 300) }),
    ...(login === undefined ? {} : { login }),
  });

/** Takes the sign-in that is on its way; false: somebody took it or began another one. */
export const takePending = async (db: Executor, row: ServerRow): Promise<boolean> => {
  if (!row.pendingEncrypted) return false;
  const taken = await db
    .update(toolServers)
    .set({ pendingEncrypted: null })
    .where(and(eq(toolServers.id, row.id), eq(toolServers.pendingEncrypted, row.pendingEncrypted)))
    .returning({ id: toolServers.id });
  return taken.length > 0;
};
