import { Refusal } from './handlers.ts';
import { addressKey, isLocal, networkKey } from './rate-limit.ts';

const megabyte = 1024 * 1024;

/**
 * Bytes of what was sent, of what was fetched for it, and of large answers that are not taken yet,
 * that are held here at once: of one person,
 * of the guests and visitors of a network, of all of those, and of everybody. Whoever holds nothing
 * may hold one thing of any size.
 */
const most = {
  person: 128 * megabyte,
  network: 48 * megabyte,
  guests: 192 * megabyte,
  all: 768 * megabyte,
};
/** Less than this is not counted: how many of those come in a minute is bounded. */
export const notable = megabyte / 4;

const refusals = {
  sent: '同时发送的内容太多，请等前面的处理完再试',
  read: '同时读取的内容太多，请等前面的读完再试',
};

/** Holds so many bytes, until what it gives is called. @throws Refusal too_many, unavailable */
export type HoldBytes = (
  bytes: number,
  user: { id: number; guest: boolean } | null,
  ip: string,
  why?: keyof typeof refusals,
) => () => void;

/** Counts the bytes that requests and their answers hold in this process. */
export const createByteRoom = (): HoldBytes => {
  const held = new Map<string, number>();
  const change = (keys: Iterable<string>, bytes: number): void => {
    for (const key of keys) {
      const now = (held.get(key) ?? 0) + bytes;
      if (now > 0) held.set(key, now);
      else held.delete(key);
    }
  };
  return (bytes, user, ip, why = 'sent') => {
    if (!(bytes > notable)) return () => undefined;
    const known = user !== null && !user.guest;
    const bounds = new Map<string, number>();
    if (known) bounds.set(`person ${user.id}`, most.person);
    else {
      bounds.set('guests', most.guests);
      // A proxy on this machine may hide whoever comes through it.
      if (!isLocal(addressKey(ip))) bounds.set(`network ${networkKey(ip)}`, most.network);
    }
    for (const [key, room] of bounds) {
      const own = held.get(key) ?? 0;
      if (own > 0 && own + bytes > room)
        throw new Refusal('too_many', refusals[why], { retry_after: 2 });
    }
    const all = held.get('all') ?? 0;
    if (all > 0 && all + bytes > most.all)
      throw new Refusal('unavailable', '服务器现在忙不过来，请稍后再试', { retry_after: 5 });
    const keys = [...bounds.keys(), 'all'];
    change(keys, bytes);
    let left = false;
    return () => {
      if (!left) change(keys, -bytes);
      left = true;
    };
  };
};
