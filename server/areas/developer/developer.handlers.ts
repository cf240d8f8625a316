import type { Handlers } from '../../http/handlers.ts';
import type { AuthService } from '../auth/auth.service.ts';
import { apiHint, createKey, listKeys, removeKey, usageOf } from './key.service.ts';

export const createDeveloperHandlers = ({
  auth,
}: {
  auth: Pick<AuthService, 'userView'>;
}): Pick<Handlers, 'apiKeys' | 'genKey' | 'delKey' | 'apiUsage'> => ({
  apiKeys: async (_input, { db, user }) => {
    const me = await auth.userView(db, user.id);
    const hint = await apiHint(db, user.id);
    return {
      list: await listKeys(db, user.id),
      userinfo: {
        user_id: user.id,
        name: me.user_name,
        chatgpt_balance: me.chatgpt_balance,
        vip: me.vip,
        vip_expired_at: me.vip_expired_at,
        may_use: hint === '',
        hint,
      },
    };
  },
  genKey: (input, { db, user }) => createKey(db, input, user.id),
  delKey: (input, { db, user }) => removeKey(db, input, user.id),
  apiUsage: async (input, { db, user }) => ({ list: await usageOf(db, input, user.id) }),
});
