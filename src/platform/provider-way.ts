/**
 * What this browser keeps while somebody is away at the provider that they sign in with: without it
 * what is brought back is worth nothing.
 */
interface Way {
  secret: string;
  /** Where to go afterwards. */
  back?: string;
  /** ms since 1970. */
  at: number;
}

const key = 'queqiao.ways-there';
const lifeMs = 15 * 60_000;
const most = 5;

const read = (): Record<string, Way> => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, Way>) : {};
  } catch {
    return {};
  }
};
const write = (ways: Record<string, Way>): void => {
  try {
    localStorage.setItem(key, JSON.stringify(ways));
  } catch {
    // Without room nobody comes back from there: it says so then.
  }
};

export const keepWay = (state: string, way: Omit<Way, 'at'>): void => {
  const fresh = Object.entries(read()).filter(([, { at }]) => Date.now() - at < lifeMs);
  write(Object.fromEntries([...fresh, [state, { ...way, at: Date.now() }]].slice(-most)));
};

export const wayOf = (state: string): Way | undefined => read()[state];

export const dropWay = (state: string): void => {
  const { [state]: _, ...others } = read();
  write(others);
};
