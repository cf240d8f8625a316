import type { User } from '#contract/auth.ts';
import { createStore, useStore } from './store.ts';
import { tokenKey, userKey } from './stored.ts';

export interface Auth {
  /** The bearer token; empty: nobody is signed in, not even as a guest. */
  token: string;
  /** The account behind the token; null until it has been asked for. */
  user: User | null;
}

const nobody: Auth = { token: '', user: null };

const read = (): Auth => {
  try {
    const token = localStorage.getItem(tokenKey) ?? '';
    const stored = localStorage.getItem(userKey);
    return { token, user: token && stored ? (JSON.parse(stored) as User) : null };
  } catch {
    // Storage is forbidden or its content is broken: nobody is signed in.
    return nobody;
  }
};

const write = (key: string, value: string | null) => {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage the sign-in lasts as long as this page.
  }
};

const store = createStore(read());

const put = (auth: Auth) => {
  write(tokenKey, auth.token || null);
  write(userKey, auth.user ? JSON.stringify(auth.user) : null);
  store.set(auth);
};

/** The sign-in of this browser; the tabs follow each other. */
export const authStore = {
  get: store.get,
  subscribe: store.subscribe,
  /** Changes what is given and keeps the rest. */
  set: (next: Partial<Auth>) => put({ ...store.get(), ...next }),
  clear: () => put(nobody),
};

globalThis.addEventListener?.('storage', (event) => {
  if (event.key === tokenKey || event.key === userKey || event.key === null) store.set(read());
});

/** `signedIn`: a registered account; `guest`: an account made without registering. */
export const useAuth = () => {
  const auth = useStore(store);
  return {
    ...auth,
    guest: auth.token !== '' && (auth.user?.guest ?? false),
    signedIn: auth.token !== '' && auth.user !== null && !auth.user.guest,
  };
};
