import * as z from 'zod/mini';

/**
 * A backup is one gzipped tar, sealed as a whole where there is a passphrase (sealed.ts). First its manifest; then each table as `tables/<name>/<n>.copy`,
 * pieces of what COPY gives in text format; then the files of the data folder under `data/`.
 */
export const manifestName = 'manifest.json';

export const manifest = z.object({
  format: z.literal(1),
  version: z.string(),
  created_at: z.string(),
  /** Versions of the migrations that made these tables. */
  migrations: z.array(z.int()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  /** Next numbers of the sequences; null: none was taken yet. */
  sequences: z.array(z.object({ name: z.string(), last: z.nullable(z.string()) })),
  /** Files of people are in an S3 service and not in here. */
  files_elsewhere: z.boolean(),
});
export type Manifest = z.output<typeof manifest>;

/** Rows that say which processes run now, which backups there are, and what the migrations note themselves. */
export const leftOut = [
  'instances',
  'backups',
  'backup_plan',
  'schema_migrations',
  'shared_counts',
];
/**
 * Left out where nothing seals the archive: what signs logins. With it and the logins beside it
 * whoever finds a backup would enter as anybody.
 */
export const sealedOnly = ['secrets'];

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const columnList = (columns: readonly string[]): string => columns.map(quoted).join(', ');
