import { eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { secrets } from './schema.ts';

export const storedSecret = async (db: Executor, name: string): Promise<string | undefined> => {
  const [row] = await db
    .select({ value: secrets.value })
    .from(secrets)
    .where(eq(secrets.name, name));
  return row?.value;
};

/** The secret of that name; where there is none, one is made, and the first that was made is kept. */
export const keptSecret = async (
  db: Executor,
  name: string,
  make: () => string,
): Promise<string> => {
  const kept = await storedSecret(db, name);
  if (kept !== undefined) return kept;
  await db.insert(secrets).values({ name, value: make() }).onConflictDoNothing();
  const value = await storedSecret(db, name);
  if (value === undefined) throw new Error(`the secret ${name} is missing`);
  return value;
};
