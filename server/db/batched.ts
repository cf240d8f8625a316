import type { Database } from './database.ts';

interface Asked<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Does what several callers ask for in one go: whoever comes while a batch is at work goes with the
 * next, and whoever comes alone waits for nobody. A batch that fails fails for all in it.
 * @param work gives a result for each item, in their order
 * @param most items in a batch
 */
export const batched = <Item, Result>(
  work: (db: Database, items: readonly Item[]) => Promise<readonly Result[]>,
  most: number,
): ((db: Database, item: Item) => Promise<Result>) => {
  const lines = new WeakMap<Database, Asked<Item, Result>[]>();

  const workOff = async (db: Database, line: Asked<Item, Result>[]): Promise<void> => {
    while (line.length > 0) {
      const batch = line.splice(0, most);
      try {
        const results = await work(
          db,
          batch.map(({ item }) => item),
        );
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    lines.delete(db);
  };
  return (db, item) =>
    new Promise((resolve, reject) => {
      const asked = { item, resolve, reject };
      const line = lines.get(db);
      if (line) {
        line.push(asked);
        return;
      }
      const begun = [asked];
      lines.set(db, begun);
      void workOff(db, begun);
    });
};
