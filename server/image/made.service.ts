import { limits } from '../../contract/limits.ts';
import type { Executor } from '../db/database.ts';
import * as store from './image.store.ts';

export { knownKeys as madeImages, moveImages } from './image.store.ts';

/** A page of the pictures that a person made, newest first. */
export const listMade = async (db: Executor, userId: number, page: number) => {
  const pageSize = limits.imageSelectorPage;
  const rows = await store.imagePage(db, userId, {
    offset: Math.min((page - 1) * pageSize, 1_000_000),
    limit: pageSize,
  });
  const total = await store.countImages(db, userId);
  return {
    list: rows.map((row) => ({
      id: row.id,
      uuid: row.uuid,
      url: `/files/${row.key}.png`,
      size: `${row.width}x${row.height}`,
      prompt: row.prompt,
      created_at: row.createdAt.toISOString(),
    })),
    page,
    page_count: Math.ceil(total / pageSize),
    page_size: pageSize,
    total,
  };
};
