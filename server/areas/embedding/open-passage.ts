import type { Executor } from '#server/db/database.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { canDraw } from '#server/reading/draw-page.ts';
import { type Place, placeText } from '#server/reading/place.ts';
import * as store from './embedding.store.ts';
import type { FileOfBase, KnowledgeBases } from './knowledge-bases.ts';
import type { Originals } from './originals.ts';

/** Where in its file a passage stands, in words. */
export const placeOf = ({
  page,
  heading,
  place,
}: Pick<store.ChunkRow, 'page' | 'heading' | 'place'>) =>
  Object.keys(place).length > 0
    ? placeText(place)
    : placeText({ ...(page > 0 ? { page } : {}), heading: heading === '' ? [] : [heading] });

export const standsAt = ({ page, slide, sheet, row, toRow }: Place) => ({
  page,
  slide,
  sheet,
  row,
  to_row: toRow,
});

/** The page of the file that a passage stands on; null: a picture has none; undefined: it cannot be drawn. */
const pageOf = ({ page }: Pick<store.ChunkRow, 'page'>, { kind, storageKey }: FileOfBase) =>
  storageKey === null || !canDraw()
    ? undefined
    : kind === 'image'
      ? null
      : kind === 'pdf' && page > 0
        ? page
        : undefined;

/**
 * Whether a person may see the page that a passage stands on. What its owner changed, switched off
 * or deleted still stands there: then it is shown to them alone.
 */
export const isDrawn = async (
  db: Executor,
  row: Pick<store.ChunkRow, 'page' | 'fileId'>,
  file: FileOfBase,
  userId: number | null,
): Promise<boolean> =>
  pageOf(row, file) !== undefined &&
  (file.project.userId === userId || (await store.isUntouched(db, row.fileId)));

/** A passage that a person may look up, with its file. @throws Refusal not_found */
const openPassage = async (
  bases: Pick<KnowledgeBases, 'fileOf' | 'rowFor'>,
  db: Executor,
  id: number,
  userId: number | null,
) => {
  const [row] = await store.chunksById(db, [id]);
  const file = row && (await bases.fileOf(db, row.fileId));
  if (!row || row.off || !file || !(await bases.rowFor(db, file.project.key, userId)))
    throw new Refusal('not_found', '没有这段资料，它可能已被删除');
  return { row, file };
};

/** A passage with what stands around it. @throws Refusal not_found */
export const passageAround = async (
  bases: Pick<KnowledgeBases, 'fileOf' | 'rowFor'>,
  db: Executor,
  id: number,
  userId: number | null,
) => {
  const { row, file } = await openPassage(bases, db, id, userId);
  const around = await store.chunksAround(db, row.fileId, row.seq);
  return {
    name: file.project.name,
    file: file.name,
    place: placeOf(row),
    before: around.find(({ seq }) => seq === row.seq - 1)?.content ?? '',
    text: row.content,
    after: around.find(({ seq }) => seq === row.seq + 1)?.content ?? '',
    stands: standsAt(row.place),
    drawn: (await isDrawn(db, row, file, userId)) ? row.id : 0,
  };
};

/** The page of its file that a passage stands on, as a picture. @throws Refusal not_found, too_many */
export const drawnPage = async (
  { bases, originals }: { bases: Pick<KnowledgeBases, 'fileOf' | 'rowFor'>; originals: Originals },
  db: Executor,
  id: number,
  asker: { userId: number | null; owner: Waiter },
) => {
  const { userId, owner } = asker;
  const { row, file } = await openPassage(bases, db, id, userId);
  const page = pageOf(row, file);
  if (page === undefined || !(await isDrawn(db, row, file, userId)))
    throw new Refusal('not_found', '这段资料没有原页可看');
  const looks = await store.looksOf(db, row.fileId, page ?? 0);
  const drawn = await originals.draw({ key: file.storageKey ?? '', page, looks }, owner);
  if (!drawn) throw new Refusal('not_found', '原页太复杂或已损坏，没有画出来');
  return drawn;
};
