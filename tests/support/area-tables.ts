import { readdirSync } from 'node:fs';
import { is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';

const areas = new URL('../../server/areas/', import.meta.url);

/** The tables of all areas: what server/areas/<area>/*.tables.ts export. */
export const areaTables = async (): Promise<PgTable[]> => {
  const files = readdirSync(areas, { recursive: true, encoding: 'utf8' });
  const modules = await Promise.all(
    files
      .filter((file) => file.endsWith('.tables.ts'))
      .map((file) => import(new URL(file, areas).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((each) => Object.values(each).filter((value) => is(value, PgTable)));
};
