import { type Handlers, Refusal } from '#server/http/handlers.ts';
import type { AuthService } from '../auth/auth.service.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { bodiesOf, deleteCallsOf } from './call-log.store.ts';
import { listCalls } from './call-log.service.ts';
import {
  apiHint,
  createKey,
  isShownOnce,
  keyAgain,
  listKeys,
  removeKey,
  showOnce,
  usageOf,
} from './key.service.ts';
import { changeKey, pauseKey, rotateKey } from './key-change.service.ts';

export const createDeveloperHandlers = ({
  auth,
  box,
}: {
  auth: Pick<AuthService, 'userView'>;
  /** Seals the keys that are kept. */
  box: KeyBox;
}): Pick<
  Handlers,
  | 'apiKeys'
  | 'genKey'
  | 'updateKey'
  | 'rotateKey'
  | 'pauseKey'
  | 'delKey'
  | 'keysShownOnce'
  | 'apiUsage'
  | 'apiCallLog'
  | 'apiCallBodies'
  | 'clearCallLog'
> => ({
  apiKeys: async (_input, { db, user }) => {
    const me = await auth.userView(db, user.id);
    const hint = await apiHint(db, user.id);
    return {
      list: await listKeys(db, box, user.id),
      userinfo: {
        user_id: user.id,
        name: me.user_name,
        chatgpt_balance: me.chatgpt_balance,
        vip: me.vip,
        vip_expired_at: me.vip_expired_at,
        may_use: hint === '',
        hint,
        keys_shown_once: await isShownOnce(db, user.id),
      },
    };
  },
  genKey: (input, { db, user, repeated }) =>
    repeated === null
      ? createKey(db, box, input, user)
      : keyAgain(db, box, (repeated as { id: number }).id, user.id),
  updateKey: async (input, { db, user }) => {
    await changeKey(db, input, user.id);
    return {};
  },
  rotateKey: (input, { db, user, repeated }) =>
    repeated === null
      ? rotateKey(db, box, input, user)
      : keyAgain(db, box, (repeated as { id: number }).id, user.id),
  pauseKey: async (input, { db, user }) => {
    await pauseKey(db, input, user.id);
    return {};
  },
  delKey: (input, { db, user }) => removeKey(db, input, user.id),
  keysShownOnce: async ({ on }, { db, user }) => {
    await showOnce(db, user.id, on);
    return {};
  },
  apiCallLog: (input, { db, user }) => listCalls(db, input, user.id),
  apiCallBodies: async ({ id }, { db, user }) => {
    const bodies = await bodiesOf(db, user.id, id);
    if (!bodies) throw new Refusal('not_found', '没有这次调用，或已经超过 30 天');
    return bodies;
  },
  clearCallLog: async (_input, { db, user }) => {
    await deleteCallsOf(db, user.id);
    return {};
  },
  apiUsage: async (input, { db, user }) => ({ list: await usageOf(db, box, input, user.id) }),
});
