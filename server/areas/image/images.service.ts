import type { MadeBy } from '#contract/file.ts';
import type { ListedImage } from '#contract/image.ts';
import { limits } from '#contract/limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import { forgetImage } from '../chat/image-messages.service.ts';
import { ownImage } from '../file/image-address.ts';
import { bareLabel } from '../file/image.ts';
import type { FileService } from '../file/file.service.ts';
import type { UploadedRow } from '../file/uploads.ts';
import * as store from './image.store.ts';

export {
  childrenOf,
  drawnBytes,
  isPublic,
  listedImage,
  moveImages,
  parentsOf,
  seenImage,
  stateOfFile,
  viewerOf,
  type ImageRow,
  type Kin,
} from './image.store.ts';

export const imageAddress = ({ key, type }: Pick<store.ImageRow, 'key' | 'type'>): string =>
  `/files/${key}.${type}`;

/** Images of which one call may ask who made them. */
const mostAsked = 60;

export const noImage = () => new Refusal('not_found', '没有这张图片');

/** Who wants something of an image. */
export type ImageUser = Pick<Identity, 'id' | 'guest' | 'person'> &
  Partial<Pick<Identity, 'manager'>>;

/**
 * The one place that decides who may do what with an image by its number. `see`: its owner, managers,
 * and everybody where it is public. `change`: its owner and managers; to whoever may only see it the
 * refusal is not_owner. `use`: its owner alone, who pays for what is made of it. To all others it is
 * as if there were none.
 * @throws Refusal not_found, not_owner
 */
export const requireImage = async (
  db: Executor,
  id: number,
  user: Pick<ImageUser, 'id' | 'manager'> | null,
  wish: 'see' | 'change' | 'use',
): Promise<store.ImageRow> => {
  const row = await store.anyImage(db, id);
  if (!row) throw noImage();
  const own = user !== null && row.userId === user.id;
  const manages = user?.manager === true && wish !== 'use';
  if (!own && !manages) {
    if (row.deletedAt !== null || !(await store.isPublic(db, id))) throw noImage();
    if (wish !== 'see') throw new Refusal('not_owner', '只有图片的主人可以这样做');
  }
  if (row.deletedAt !== null && wish !== 'see') throw new Refusal('not_found', '图片已删除');
  return row;
};

/** What is drawn or changed here says it itself; what was brought, as far as it is known. */
export const madeOf = ({
  origin,
  made,
}: Pick<store.ImageRow, 'origin' | 'made'>): { made?: MadeBy } => {
  if (origin === 'drawn' || origin === 'edited') return { made: 'generated' };
  return made === '' ? {} : { made };
};

/** An image as lists have it. */
export const viewImage = (row: store.Listed): ListedImage => ({
  id: row.id,
  uuid: row.uuid,
  url: row.deleted || row.key === '' ? '' : imageAddress(row),
  size: `${row.width}x${row.height}`,
  user_id: row.user_id,
  user_name: row.user_name,
  session_id: row.session_id,
  liked_count: row.liked_count,
  disliked_count: row.disliked_count,
  like: row.vote,
  isLiked: row.vote,
  model: row.model,
  error: row.deleted || row.key === '' ? '图片已删除' : '',
  origin: row.origin,
  ...madeOf(row),
  hidden: row.hidden,
  prompt: row.deleted ? '' : row.prompt,
  created_at: row.created_at,
});

/** Lists end here: further pages would cost more than anybody wants to see. */
const mostListed = { public: 2_000, person: 20_000 } as const;

/** A page of images as one person sees them. */
export const pageOfImages = async (
  db: Executor,
  asked: {
    choice: store.Choice;
    query?: string;
    order?: store.Order;
    viewer: number;
    page: number;
    pageSize: number;
  },
) => {
  const { choice, query = '', order = 'newest', viewer, page, pageSize } = asked;
  const most = mostListed[choice.of];
  const total = await store.countListed(db, choice, query, most);
  const offset = (page - 1) * pageSize;
  const rows =
    offset >= total
      ? []
      : await store.listImages(db, { choice, query, order, viewer, offset, limit: pageSize });
  return {
    list: rows.map(viewImage),
    ...pageOf(total, page, pageSize),
  };
};

/** A page of what a person drew, or uploaded, newest first; what the selector of images shows. */
export const ownImages = (db: Executor, userId: number, page: number, uploaded: boolean) =>
  pageOfImages(db, {
    choice: { of: 'person', userId, uploaded },
    viewer: userId,
    page,
    pageSize: limits.imageSelectorPage,
  });

/** What a job made. */
export const imagesOfJob = async (
  db: Executor,
  jobUuid: string,
  viewer: number,
): Promise<ListedImage[]> => (await store.imagesOfJob(db, jobUuid, viewer)).map(viewImage);

/** Makes an image of what was uploaded, in the transaction that keeps its file. Gives its number. */
export const keepUploaded = async (db: Executor, upload: UploadedRow): Promise<number> => {
  const [row] = await store.insertImages(db, [
    { ...upload, origin: 'uploaded', model: '', prompt: '' },
  ]);
  if (!row) throw new Error('the image was not stored');
  return row.id;
};

/** Deletes an image: from every list and message at once, its file a day later. */
export const deleteImage = async (tx: Transaction, id: number, user: Identity): Promise<void> => {
  const image = await requireImage(tx, id, user, 'change');
  await store.markDeleted(tx, image.id);
  if (image.historyId !== null) await forgetImage(tx, image.historyId, image.uuid);
};

export const hideImage = async (
  tx: Transaction,
  id: number,
  hidden: boolean,
  user: Identity,
): Promise<void> => {
  const image = await requireImage(tx, id, user, 'change');
  await store.setHidden(tx, image.id, hidden);
};

/** Takes the files of images away that were deleted a day ago. */
export const removeDeletedFiles = async (
  tx: Transaction,
  files: Pick<FileService, 'dropImage'>,
): Promise<void> => {
  const rows = await store.filesToRemove(tx, 200);
  if (rows.length === 0) return;
  for (const image of rows) await files.dropImage(tx, image);
  await store.forgetKeys(
    tx,
    rows.map(({ id }) => id),
  );
};

/** Which of these images a model made, and how that is known; whoever has an address may ask. */
export const originsOf = async (
  db: Executor,
  urls: readonly string[],
): Promise<{ url: string; made: MadeBy }[]> => {
  const keys = urls.flatMap((url) => ownImage(url)?.key ?? []).slice(0, mostAsked);
  if (keys.length === 0) return [];
  const rows = await store.makingOfKeys(db, keys);
  return rows.flatMap((row) => {
    const { made } = madeOf(row);
    return made ? [{ url: imageAddress(row), made }] : [];
  });
};

/**
 * Whoever brought an image says that a model made it: that is written into its file, too.
 * @throws Refusal not_found
 */
export const declareImage = async (
  db: Executor,
  files: Pick<FileService, 'relabel'>,
  url: string,
  user: Identity,
): Promise<MadeBy> => {
  const named = ownImage(url);
  const row = named && (await store.ownOfKey(db, named.key, user.id));
  if (!row) throw noImage();
  const { made } = madeOf(row);
  if (made === 'generated' || made === 'declared') return made;
  if (!(await files.relabel(row, bareLabel('2')))) throw noImage();
  await store.setMade(db, row.id, 'declared');
  return 'declared';
};
