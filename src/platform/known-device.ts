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

const normal = (account: string): string => account.normalize('NFKC').trim().toLowerCase();

export const deviceOf = (account: string): string | undefined => {
  const device = read()[normal(account)];
  return typeof device === 'string' ? device.slice(0, 200) : undefined;
};

/** Stays after a logout: that is when it is wanted. */
export const keepDevice = (account: string, device: string): void => {
  const { [normal(account)]: _, ...others } = read();
  const kept = Object.entries({ ...others, [normal(account)]: device }).slice(-most);
  try {
    localStorage.setItem(place, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // Without room the next login is like one from elsewhere.
  }
};
