import { orderTypes } from '#contract/kinds.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Payable } from '../payment/payable.ts';
import * as store from './market.store.ts';
import { noApp } from './app-rights.ts';

const idOf = (subject: string): number => (/^\d{1,15}$/.test(subject) ? Number(subject) : 0);

/** The right to download an app; its number is the order's subject. */
export const appPayable: Payable = {
  kind: 'app',
  type: orderTypes.app,
  rivals: ['app'],
  price: async (db, userId, { subject }) => {
    const shown = await store.shownApp(db, idOf(subject));
    if (shown?.app.state !== 'published' || !shown.version?.fileKey) throw noApp();
    const { app } = shown;
    if ((await store.ownedApps(db, userId, [app.id])).has(app.id))
      throw new Refusal('order_unsuitable', '您已经有这个应用了，可以直接下载');
    return { quantity: 1, subject, title: `应用：${app.title}`, amount: app.price, tokens: 0 };
  },
  describe: ({ subject }) => ({
    url: `/apps/details?appid=${subject}`,
    words: '购买成功，可以下载了',
  }),
  isHad: async (tx, order) => {
    const app = idOf(order.subject);
    return (await store.ownedApps(tx, order.userId, [app])).has(app);
  },
  deliver: (tx, order) =>
    store.addPurchase(tx, { appId: idOf(order.subject), userId: order.userId, orderId: order.id }),
  revoke: async (tx, order, part) => {
    // An app is had or not: a part of its price changes nothing about it.
    if (part.whole) await store.revokePurchase(tx, order.id, true);
    return { tokens: 0, whole: part.whole };
  },
  restore: async (tx, order, taken) => {
    if (taken['whole'] === true) await store.revokePurchase(tx, order.id, false);
  },
};
