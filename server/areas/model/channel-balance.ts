import type { Out } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { askBalance, tellsBalance } from '#server/engines/openai-compatible/balance.ts';
import { throughProxy } from './channel-engines.ts';
import { type KeyBox, keysIn, openedKeys } from './channel-key.ts';
import * as store from './manage-model.store.ts';
import { noChannel } from './channel-view.ts';

/** Asks a channel's service what is left; gives what is to be done with the answer in a transaction. */
export const balanceOf = async (
  keys: KeyBox,
  db: Executor,
  id: number,
): Promise<(db: Executor) => Promise<Out<'channelBalance'>>> => {
  const channel = await store.findChannel(db, id);
  if (!channel) throw noChannel();
  const { baseUrl, options, kind } = channel;
  const service = { baseUrl, maker: options.maker ?? null };
  const silent = (message: string) => async () => ({ amount: null, unit: '', message });
  if (kind !== 'openai-compatible' || !tellsBalance(service))
    return silent('这家服务不说余额，请到它的网站看');
  const [secret = ''] = keysIn(openedKeys(keys, channel) ?? '');
  try {
    const told = await askBalance(
      service,
      secret,
      options.proxy ? throughProxy(options.proxy) : undefined,
    );
    return async (tx) => {
      await store.noteBalance(tx, id, told);
      return { ...told, message: '' };
    };
  } catch {
    return silent('没有问到余额：服务没有说，或密钥不对');
  }
};
