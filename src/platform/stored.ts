/** What this browser keeps under a key; empty: nothing, or storage is forbidden. */
export const readStored = (key: string): string => {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
};

export const tokenKey = 'queqiao.token';
export const userKey = 'queqiao.user';
