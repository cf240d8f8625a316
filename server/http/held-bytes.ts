import { Refusal } from './handlers.ts';
import { addressKey, isLocal, networkKey } from './rate-limit.ts';

const megabyte = 1024 * 1024;

/**
 * Bytes of what was sent, of what was fetched for it, and of large answers that are not taken yet,
 * that are held here at once: of one person, of the guests and visitors of a network, of all of those,
 * and of everybody. Whoever holds nothing may hold one thing of any size where there is room, and a
 * share where there is none: what is held may be bytes that somebody only says will come.
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
  /** What each of those who hold something has, and one more, where all had the same. */
  const shareOf = (pool: 'guests' | 'all'): number => {
    const owners = pool === 'all' ? /^(person|network) / : /^network /;
    return most[pool] / ([...held.keys()].filter((key) => owners.test(key)).length + 1);
  };
  return (bytes, user, ip, why = 'sent') => {
    if (!(bytes > notable)) return () => undefined;
    const known = user !== null && !user.guest;
    // A proxy on this machine may hide whoever comes through it.
    const network = isLocal(addressKey(ip)) ? null : `network ${networkKey(ip)}`;
    const owner = known ? `person ${user.id}` : network;
    const own = owner === null ? null : (held.get(owner) ?? 0);
    const tooMuch = () => new Refusal('too_many', refusals[why], { retry_after: 2 });
    if (own !== null && own > 0 && own + bytes > most[known ? 'person' : 'network'])
      throw tooMuch();
    const pools = known ? (['all'] as const) : (['guests', 'all'] as const);
    for (const pool of pools) {
      const now = held.get(pool) ?? 0;
      if (now === 0 || now + bytes <= most[pool]) continue;
      if (own === 0 && bytes <= shareOf(pool)) continue;
      if (pool === 'guests') throw tooMuch();
      throw new Refusal('unavailable', '服务器现在忙不过来，请稍后再试', { retry_after: 5 });
    }
    const keys = [...(owner === null ? [] : [owner]), ...pools];
    change(keys, bytes);
    let left = false;
    return () => {
      if (!left) change(keys, -bytes);
      left = true;
    };
  };
};
