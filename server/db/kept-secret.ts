import { eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { secrets } from './schema.ts';

/** The secret of that name; `fresh` is kept as it when there was none. */
export const keptSecret = async (db: Executor, name: string, fresh: string): Promise<string> => {
  await db.insert(secrets).values({ name, value: fresh }).onConflictDoNothing();
  const [row] = await db
    .select({ value: secrets.value })
    .from(secrets)
    .where(eq(secrets.name, name));
  if (!row) throw new Error(`the secret ${name} is missing`);
  return row.value;
};
