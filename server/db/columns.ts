import { bigint, customType, timestamp } from 'drizzle-orm/pg-core';

/** Columns as every table has them. */

export const bigId = () =>
  bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity();
export const tokens = (name: string) => bigint(name, { mode: 'number' });
export const reference = (name: string) => bigint(name, { mode: 'number' });
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
