/** For each account that was signed in to here what proves it (Document 1 §7, login): it opens nothing. */
const place = 'queqiao.devices';
const most = 5;

const read = (): Record<string, string> => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(place) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
  } catch {
    return {};
  }
};

/** On a shared phone nobody reads here whose accounts they were. Undefined: no digests without https. */
const keyOf = async (account: string): Promise<string | undefined> => {
  const normal = new TextEncoder().encode(account.normalize('NFKC').trim().toLowerCase());
  const digest = await globalThis.crypto.subtle?.digest('SHA-256', normal);
  return digest && btoa(String.fromCodePoint(...new Uint8Array(digest))).slice(0, 22);
};

export const deviceOf = async (account: string): Promise<string | undefined> => {
  const key = await keyOf(account);
  const device = key === undefined ? undefined : read()[key];
  return typeof device === 'string' ? device.slice(0, 200) : undefined;
};

/** All of them, for a way to sign in that says only afterwards whose account it is. */
export const allDevices = (): string => Object.values(read()).join(' ');

/** Stays after a logout: that is when it is wanted. */
export const keepDevice = async (account: string, device: string): Promise<void> => {
  const key = await keyOf(account);
  if (key === undefined) return;
  const { [key]: _, ...others } = read();
  const kept = Object.entries({ ...others, [key]: device }).slice(-most);
  try {
    localStorage.setItem(place, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // Without room the next login is like one from elsewhere.
  }
};
