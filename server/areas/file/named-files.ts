import type { StructuredMessage } from '#contract/chat.ts';
import type { Executor } from '#server/db/database.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { findTexts, hasImage, touchImages, touchTexts } from './file.store.ts';
import { imagePath, isPublicUrl, isWebAddress, namedImage } from './image-address.ts';

export interface NamedFilesDeps {
  /** What the area of images knows of a file's key. */
  stateOfFile: (db: Executor, key: string) => Promise<'there' | 'deleted' | 'unknown'>;
}

type Attached = Pick<StructuredMessage, 'images' | 'files'>;

/** Files that messages, orders and settings name: those there are, kept from being cleared away. */
export const createNamedFiles = ({ stateOfFile }: NamedFilesDeps) => {
  /** Whether an image of this key may still be shown: what was deleted is gone at once. */
  const isThere = async (db: Executor, key: string): Promise<boolean> => {
    const state = await stateOfFile(db, key);
    return state === 'unknown' ? hasImage(db, key) : state === 'there';
  };

  /** Keeps those of these images that are there from being cleared away; gives their keys. */
  const touch = async (db: Executor, keys: string[]): Promise<Set<string>> => {
    const there = new Set<string>();
    if (keys.length > 0) await touchImages(db, keys);
    for (const key of new Set(keys)) if (await isThere(db, key)) there.add(key);
    return there;
  };

  return {
    isThere,

    /**
     * What a message that is being sent refers to, checked and kept from being cleared away: own
     * images must be there, others' be public https addresses, texts be the person's own. Gives
     * them with the true addresses, names and sizes. To be called in the message's transaction.
     * @throws Refusal bad_input
     */
    async take(db: Executor, { images, files }: Attached, userId: number): Promise<Attached> {
      const keys = images.flatMap((url) => namedImage(url)?.key ?? []);
      const there = await touch(db, keys);
      const meant = images.map((url) => {
        const named = namedImage(url);
        if (named && there.has(named.key)) return imagePath(named);
        if (isPublicUrl(url)) return url;
        throw new Refusal(
          'bad_input',
          named || !isWebAddress(url)
            ? 'images：图片不存在或已过期，请重新上传'
            : 'images：图片地址要能公开访问（https）',
        );
      });
      const ids = files.map(({ uuid }) => uuid.toLowerCase());
      const found = ids.length > 0 ? await touchTexts(db, ids, userId) : [];
      return {
        images: meant,
        files: ids.map((id) => {
          const row = found.find((each) => each.id === id);
          if (!row) throw new Refusal('bad_input', 'files：附件不存在或已过期，请重新上传');
          const { name, size, chars, tokens } = row;
          return { uuid: id, name, size, chars, ...(tokens === null ? {} : { tokens }) };
        }),
      };
    },

    /**
     * Refuses addresses of images that are not there: own ones must be, others be of the web; they
     * are fetched when they are needed. To be called in the transaction of what refers to them.
     * @throws Refusal bad_input
     */
    async takeImages(db: Executor, urls: readonly string[]): Promise<void> {
      const keys = urls.flatMap((url) => namedImage(url)?.key ?? []);
      const there = await touch(db, keys);
      for (const url of urls) {
        const named = namedImage(url);
        // One that is here no longer, or never was: of another host's it is told when it is fetched.
        const lost =
          named !== null &&
          !there.has(named.key) &&
          (!isWebAddress(url) || (await stateOfFile(db, named.key)) === 'deleted');
        if (lost || (named === null && !isWebAddress(url)))
          throw new Refusal('bad_input', 'images：图片不存在或已过期，请重新选择');
      }
    },

    /** What a person's own file says. @throws Refusal not_found */
    async attachedText(db: Executor, uuid: string, user: Pick<Identity, 'id'>) {
      const [row] = await findTexts(db, [uuid.toLowerCase()], user.id);
      if (!row) throw new Refusal('not_found', '这个文件已经不在了');
      return { name: row.name, text: row.text, cut: row.cut };
    },
  };
};
