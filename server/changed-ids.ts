/**
 * Numbers of rows that changed, read together and one reading at a time: what changes meanwhile is
 * read next.
 * @param failed is told when they could not be read; they are asked for again by the next change
 */
export const createChangedIds = (
  read: (ids: number[]) => Promise<void>,
  failed: (error: unknown) => void,
) => {
  const changed = new Set<number>();
  let reading = false;
  return {
    add: (id: number): void => {
      changed.add(id);
    },
    read: async (): Promise<void> => {
      if (reading) return;
      reading = true;
      try {
        while (changed.size > 0) {
          const ids = [...changed];
          changed.clear();
          await read(ids);
        }
      } catch (error) {
        failed(error);
      } finally {
        reading = false;
      }
    },
  };
};
