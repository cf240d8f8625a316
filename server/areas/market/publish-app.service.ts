import { webcrypto } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Out, Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { marketLimits, marketTexts } from '#contract/market-limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type Identity, Refusal, type UploadedFile } from '#server/http/handlers.ts';
import { readJson } from '#server/http/json-text.ts';
import { scanFile } from '#server/net/clamd.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import type { FileService } from '../file/file.service.ts';
import { cleanName } from '../file/uploads.ts';
import { demand, lockApp, type Manager } from './manage-market.service.ts';
import * as store from './market.store.ts';

const isLink = (url: string): boolean =>
  /^\/files\/[0-9a-f]{40}\.(jpg|png)$/.test(url) ||
  (/^https?:\/\//i.test(url) && URL.canParse(url) && url.length <= 2000);

/** The addresses in a form's `images_url`: a list, or a list of pairs. @throws Refusal bad_input */
const readImages = (json: string): string[] => {
  let given: unknown;
  try {
    given = json.trim() === '' ? [] : readJson(json);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    given = null;
  }
  if (!Array.isArray(given)) throw new Refusal('bad_input', 'images_url：应为 JSON 列表');
  const urls = given.flat(1).map((each: unknown) => {
    const url = typeof each === 'object' && each !== null ? (each as { url?: unknown }).url : each;
    if (typeof url !== 'string' || url.trim() === '')
      throw new Refusal('bad_input', `images_url：${marketTexts.image}`);
    return url.trim();
  });
  if (urls.length > marketLimits.images)
    throw new Refusal('bad_input', `images_url：图片最多 ${marketLimits.images} 张`);
  if (!urls.every(isLink))
    throw new Refusal('bad_input', 'images_url：请填写 https 开头的图片地址，或上传图片');
  return urls;
};

const saveVersion = async (
  tx: Transaction,
  values: Parameters<typeof store.insertVersion>[1],
  draft: store.VersionRow | null,
): Promise<void> => {
  if (draft) await store.changeVersion(tx, draft.id, values);
  else if ((await store.insertVersion(tx, values)) === null)
    throw new Refusal('app_unsuitable', '这个版本号已经有了');
};

export type Publishing = ReturnType<typeof createPublishing>;

/** New apps and new versions, with their files. */
export const createPublishing = ({
  storage,
  files,
  settings,
  log,
}: {
  storage: Storage;
  files: FileService;
  settings: { appFileBytes: number; clamdUrl: string };
  log: FastifyBaseLogger;
}) => {
  /**
   * Looks at an app's file and keeps it; gives what a version knows of it.
   * @throws Refusal too_large, app_unsafe, unavailable
   */
  const keepFile = async ({ name, data }: UploadedFile) => {
    if (data.length > settings.appFileBytes)
      throw new Refusal(
        'too_large',
        `文件太大，最多 ${Math.floor(settings.appFileBytes / 1024 / 1024)} MB`,
      );
    if (settings.clamdUrl !== '') {
      let found: string;
      try {
        found = await scanFile(settings.clamdUrl, data);
      } catch (error) {
        log.error({ err: error }, 'clamd did not answer');
        throw new Refusal('unavailable', '病毒检查服务没有回应，文件没有保存，请稍后再试');
      }
      if (found !== '') throw new Refusal('app_unsafe', `文件没有通过病毒检查：${found}`);
    }
    const sha256 = Buffer.from(await webcrypto.subtle.digest('SHA-256', data)).toString('hex');
    const fileKey = newKey();
    await storage.put(fileKey, data, 'application/octet-stream');
    return {
      fileKey,
      fileName: cleanName(name),
      codeSize: data.length,
      sha256,
      scanned: settings.clamdUrl !== '',
    };
  };

  /** Runs what stores an app whose file was kept; the file goes when that fails. */
  const orDrop = async <T>(fileKey: string | undefined, act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (fileKey !== undefined)
        await storage.delete(fileKey).catch((failure: unknown) => {
          log.warn({ err: failure }, 'a file that nobody needs was not deleted');
        });
      throw error;
    }
  };

  const keepCover = async (cover: UploadedFile | undefined, user: Identity) => {
    if (!cover) return null;
    if (cover.data.length > limits.imageBytes)
      throw new Refusal('too_large', 'cover_image：图片不能超过 4 MB');
    return files.image(cover, user);
  };

  return {
    /** @throws Refusal bad_input, not_found, app_unsuitable, and as keepFile does */
    save: async (
      input: Parsed<'saveApp'>,
      uploads: { file: UploadedFile | undefined; cover: UploadedFile | undefined },
      { user, noteAct }: Manager,
    ): Promise<(db: Executor) => Promise<Out<'saveApp'>>> => {
      const draft = input.state === 'draft';
      const title = demand(input.title, 'title', marketTexts.title);
      const version = draft
        ? input.version.trim()
        : demand(input.version, 'version', marketTexts.version);
      const description = draft
        ? input.version_desc.trim()
        : demand(input.version_desc, 'version_desc', marketTexts.versionText);
      const images = readImages(input.images_url);
      const cover = await keepCover(uploads.cover, user);
      const file = uploads.file && (await keepFile(uploads.file));
      return (db) =>
        orDrop(file?.fileKey, () =>
          inTransaction(db, async (tx) => {
            const before = input.id === undefined ? null : await lockApp(tx, input.id);
            if (before && before.state !== 'draft')
              throw new Refusal('app_unsuitable', '这个应用已经发布，请在列表里修改它');
            const [kept = null] = before
              ? await store.versionsOf(tx, before.id, { offset: 0, limit: 1 })
              : [];
            if (!draft && !file && !kept?.fileKey)
              throw new Refusal('bad_input', 'file：请选择应用文件');
            await files.takeImages(tx, images);
            const values = {
              title,
              type: input.type.trim(),
              source: input.source.trim(),
              developer: input.developer.trim(),
              price: input.price,
              images,
              mdDescription: input.md_description,
              state: input.state,
              ...(draft ? {} : { publishedAt: new Date() }),
              ...(cover ? { coverImageUrl: (await cover(tx)).url } : {}),
            };
            const id = before?.id ?? (await store.insertApp(tx, values));
            if (before) await store.changeApp(tx, id, values);
            await saveVersion(tx, { appId: id, version, description, ...file }, kept);
            noteAct({ subject: `app:${id}`, to: { title, version, price: input.price, draft } });
            return { id, message: draft ? '草稿已保存' : marketTexts.published };
          }),
        );
    },

    /** @throws Refusal bad_input, not_found, app_unsuitable, and as keepFile does */
    addVersion: async (
      input: Parsed<'addAppVersion'>,
      upload: UploadedFile | undefined,
      { noteAct }: Manager,
    ): Promise<(db: Executor) => Promise<Out<'addAppVersion'>>> => {
      const version = demand(input.version, 'version', marketTexts.version);
      const description = demand(input.description, 'description', marketTexts.versionText);
      if (!upload) throw new Refusal('bad_input', 'file：请选择应用文件');
      const file = await keepFile(upload);
      return (db) =>
        orDrop(file.fileKey, () =>
          inTransaction(db, async (tx) => {
            const app = await lockApp(tx, input.id);
            if (app.state === 'draft')
              throw new Refusal('app_unsuitable', '这是草稿，请先把它发布');
            const values = { appId: app.id, version, description, ...file };
            const id = await store.insertVersion(tx, values);
            if (id === null) throw new Refusal('app_unsuitable', '这个版本号已经有了');
            await store.changeApp(tx, app.id, {});
            noteAct({ subject: `app:${app.id}`, to: { version, file: file.fileName } });
            return { id };
          }),
        );
    },

    /** Takes away files that nothing names any more. */
    drop: async (keys: readonly string[]): Promise<void> => {
      for (const key of keys) await storage.delete(key);
    },
  };
};
