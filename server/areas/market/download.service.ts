import { randomBytes } from 'node:crypto';
import type { Out, Parsed } from '#contract/calls.ts';
import type { AppVersion } from '#contract/market.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { keptSecret } from '#server/db/kept-secret.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { createPersonLimit } from '#server/http/rate-limit.ts';
import type { ByteRange } from '#server/storage/byte-range.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { type Asker, mayDownload, owns, visible } from './app-rights.ts';
import { type Link, linkLifetime, makeLink, readLink } from './link.ts';
import * as store from './market.store.ts';

/** Of one person in a minute. */
const linksAMinute = 30;

const deadLink = (): Refusal => new Refusal('not_found', '下载链接已失效，请回到应用页面重新下载');

/** The right is looked at whenever bytes are asked for: it may be gone since the link was made. */
const openLink = async (db: Database, link: Link) => {
  const account = await store.isServed(db, link.userId);
  const version = await store.findVersion(db, link.versionId);
  const app = version && (await store.findApp(db, version.appId));
  if (!account || !app || version.fileKey === '') throw deadLink();
  const asker = { id: link.userId, ...account };
  const owned = await owns(db, asker, app.id);
  if (!mayDownload(app, asker, owned)) throw deadLink();
  return { app, version, owned };
};

export type Downloads = ReturnType<typeof createDownloads>;

/** Links to the files of apps, and what lies behind them. */
export const createDownloads = ({ db, storage }: { db: Database; storage: Storage }) => {
  const limitLinks = createPersonLimit(linksAMinute, 'links to apps');
  let secret: Promise<string> | undefined;
  const linkSecret = (): Promise<string> => {
    secret ??= keptSecret(db, 'app-download', () => randomBytes(32).toString('base64url'));
    secret.catch(() => {
      secret = undefined;
    });
    return secret;
  };

  const linkOf = async (versionId: number, userId: number): Promise<string> =>
    `/api/product/download?key=${makeLink(await linkSecret(), { versionId, userId })}`;

  const viewVersion = async (
    row: store.VersionRow,
    asker: Asker,
    can: boolean,
  ): Promise<AppVersion> => ({
    id: row.id,
    version: row.version,
    code_size: row.codeSize,
    code_url: can && asker && row.fileKey !== '' ? await linkOf(row.id, asker.id) : '',
    file_name: row.fileName,
    sha256: row.sha256,
    scanned: row.scanned,
    description: row.description,
    created_at: row.createdAt.toISOString(),
  });

  return {
    viewVersion,

    /** @throws Refusal not_found, app_unsuitable, too_many */
    link: async (
      executor: Executor,
      { id, version_id: versionId }: Parsed<'appDownloadLink'>,
      user: Identity,
    ): Promise<Out<'appDownloadLink'>> => {
      const shown = await visible(executor, id, user);
      const version =
        versionId === undefined ? shown.version : await store.findVersion(executor, versionId);
      if (!version || version.appId !== id || version.fileKey === '')
        throw new Refusal('not_found', '没有这个版本');
      if (!shown.can) throw new Refusal('app_unsuitable', '取得这个应用之后才能下载');
      await limitLinks(user.id);
      return {
        url: await linkOf(version.id, user.id),
        file_name: version.fileName,
        code_size: version.codeSize,
        sha256: version.sha256,
      };
    },

    /**
     * The file behind a link, or a part of it; no body: it has no such part. A link begins one download; afterwards it goes on with
     * that one alone: from where it broke, for the same address, for some hours.
     * @throws Refusal not_found
     */
    open: async (key: string, range: ByteRange | null, ip: string) => {
      const link = readLink(await linkSecret(), key);
      if (!link) throw deadLink();
      const used = await store.usedLink(db, link.nonce);
      if (used) {
        const over = Date.now() - used.createdAt.getTime() > linkLifetime.used;
        const goesOn = range !== null && !('from' in range && range.from === 0);
        if (over || !goesOn || used.ip !== ip) throw deadLink();
      } else if (Date.now() - link.madeAt > linkLifetime.unused) throw deadLink();
      const { app, version, owned } = await openLink(db, link);
      const part = range && (await storage.getPart(version.fileKey, range));
      const found = range ? part : await storage.get(version.fileKey);
      if (!found) throw new Refusal('not_found', '文件不见了，请联系管理员');
      if (!used && found !== 'outside') {
        const { userId, nonce } = link;
        const values = { nonce, appId: app.id, versionId: version.id, userId, ip };
        if (!(await store.useLink(db, values))) {
          found.stream.destroy();
          throw deadLink();
        }
        // Who took it while it was free keeps it.
        if (!owned && app.price === 0 && app.state === 'published')
          await store.addPurchase(db, { appId: app.id, userId, orderId: null });
      }
      if (found === 'outside') return { version, body: null };
      const bytes = part && part !== 'outside' ? { from: part.from, to: part.to } : null;
      return { version, body: { stream: found.stream, size: found.size, part: bytes } };
    },
  };
};
