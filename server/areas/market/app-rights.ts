import { type Identity, Refusal } from '#server/http/handlers.ts';
import type { Executor } from '#server/db/database.ts';
import * as store from './market.store.ts';

/** Somebody who looks at apps; null: nobody knows who. */
export type Asker = Pick<Identity, 'id' | 'guest' | 'manager'> | null;

/** Whether somebody may download it: managers, its buyers, and everybody where it is free. */
export const mayDownload = (app: store.AppRow, asker: Asker, owned: boolean): boolean => {
  if (!asker || asker.guest) return false;
  if (asker.manager || owned) return true;
  return app.state === 'published' && app.price === 0;
};

export const owns = async (executor: Executor, asker: Asker, appId: number): Promise<boolean> =>
  asker !== null && (await store.ownedApps(executor, asker.id, [appId])).has(appId);

export const noApp = () => new Refusal('not_found', '没有这个应用');

/** An app that somebody may look at: taken down, it is there for its buyers and managers alone. */
export const visible = async (executor: Executor, id: number, asker: Asker) => {
  const shown = await store.shownApp(executor, id);
  if (!shown) throw noApp();
  const owned = await owns(executor, asker, id);
  const { state } = shown.app;
  if (state !== 'published' && !(asker?.manager || (state === 'down' && owned))) throw noApp();
  const can = mayDownload(shown.app, asker, owned) && shown.version?.fileKey !== '';
  return { ...shown, owned, can: can && shown.version !== null };
};
