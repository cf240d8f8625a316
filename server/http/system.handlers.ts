import { sql } from 'drizzle-orm';
import type { Handlers } from './handlers.ts';

export const createSystemHandlers = (version: string): Pick<Handlers, 'health'> => ({
  health: async (_input, { db }) => {
    await db.execute(sql`SELECT 1`);
    return { ready: true, version };
  },
});
