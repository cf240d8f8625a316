/** The outbox's database, made by the page (src/platform/outbox-db.ts), which alone gives it its tables. */
export const outboxDatabase = 'queqiao-outbox';

/**
 * It as the page made it, without Dexie. Null where it has made none, or where it can not be opened.
 */
export const openOutbox = (): Promise<IDBDatabase | null> =>
  new Promise((resolve) => {
    try {
      const opening = indexedDB.open(outboxDatabase);
      // The tables are the page's to make.
      opening.addEventListener('upgradeneeded', () => opening.transaction?.abort());
      opening.addEventListener('error', (event) => {
        event.preventDefault();
        resolve(null);
      });
      opening.addEventListener('success', () => {
        const database = opening.result;
        // A page of another version may change its tables at any time.
        database.addEventListener('versionchange', () => database.close());
        resolve(database);
      });
    } catch {
      resolve(null);
    }
  });
