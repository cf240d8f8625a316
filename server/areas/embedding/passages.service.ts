import type { Passage } from '#contract/knowledge.ts';
import type { Executor } from '#server/db/database.ts';
import { placeText } from '#server/reading/place.ts';
import * as store from './embedding.store.ts';
import * as gapsOf from './gaps.service.ts';

export type PassageRow = Awaited<ReturnType<typeof store.chunkPage>>[number];

const view = ({
  id,
  heading,
  content,
  place,
  off,
}: Pick<PassageRow, 'id' | 'heading' | 'content' | 'place' | 'off'>): Passage => ({
  id,
  place: placeText(place),
  heading,
  text: content,
  off,
});

/**
 * Passages as the owner of their base keeps them. Whose they are, and that the base's revision
 * grows with each change, is the caller's.
 */
export const passages = {
  async page(db: Executor, fileId: number, of: { offset: number; limit: number }) {
    const rows = await store.chunkPage(db, fileId, of);
    return { list: rows.map(view), total: await store.countChunks(db, fileId) };
  },
  count: store.countChunks,
  texts: store.contentsOf,
  async find(db: Executor, id: number): Promise<PassageRow | null> {
    const [row] = await store.chunksById(db, [id]);
    return row ?? null;
  },
  /** Null: it is gone. */
  async change(
    db: Executor,
    id: number,
    change: Partial<Pick<store.ChunkRow, 'content' | 'heading' | 'off' | 'vector' | 'model'>>,
  ): Promise<Passage | null> {
    const row = await store.lockChunk(db, id);
    if (!row) return null;
    await store.changeChunk(db, id, change);
    return view({ ...row, ...change });
  },
  async add(
    db: Executor,
    row: Pick<store.NewChunk, 'projectId' | 'fileId' | 'heading' | 'content' | 'vector' | 'model'>,
  ): Promise<Passage> {
    const seq = await store.nextSeq(db, row.fileId);
    const id = await store.insertChunk(db, { ...row, seq, page: 0, place: {} });
    return view({ id, heading: row.heading, content: row.content, place: {}, off: false });
  },
  remove: store.deleteChunk,
  notOf: store.chunksNotOf,
  countNotOf: store.countNotOf,
  changeVector: store.changeVector,
  gaps: gapsOf.list,
  removeGap: gapsOf.remove,
  closeGap: gapsOf.close,
};
