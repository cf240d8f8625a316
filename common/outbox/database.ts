/** The outbox's database, made by the page (src/platform/outbox-db.ts), which alone gives it its tables. */
export const outboxDatabase = 'queqiao-outbox';
