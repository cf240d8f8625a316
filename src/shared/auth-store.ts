import type { User } from '@contract/auth.ts';
import { useSyncExternalStore } from 'react';

export interface Auth {
  /** The bearer token; empty: nobody is signed in, not even as a guest. */
  token: string;
  /** The account behind the token; null until it has been asked for. */
  user: User | null;
}

const tokenKey = 'queqiao.token';
const userKey = 'queqiao.user';

const read = (): Auth => {
  try {
    const token = localStorage.getItem(tokenKey) ?? '';
    const stored = localStorage.getItem(userKey);
    return { token, user: token && stored ? (JSON.parse(stored) as User) : null };
  } catch {
    // Storage is forbidden or its content is broken: nobody is signed in.
    return { token: '', user: null };
  }
};

let auth = read();
const listeners = new Set<() => void>();

const write = (key: string, value: string | null) => {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage the sign-in lasts as long as this page.
  }
};

const tell = () => {
  for (const listener of listeners) listener();
};

/** The sign-in of this browser; the tabs follow each other. */
export const authStore = {
  get: (): Auth => auth,
  /** Changes what is given and keeps the rest. */
  set(next: { token?: string; user?: User | null }) {
    auth = {
      token: next.token ?? auth.token,
      user: next.user === undefined ? auth.user : next.user,
    };
    write(tokenKey, auth.token || null);
    write(userKey, auth.user ? JSON.stringify(auth.user) : null);
    tell();
  },
  clear() {
    auth = { token: '', user: null };
    write(tokenKey, null);
    write(userKey, null);
    tell();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

globalThis.addEventListener?.('storage', (event) => {
  if (event.key === tokenKey || event.key === userKey || event.key === null) {
    auth = read();
    tell();
  }
});

/** `signedIn`: a registered account; `guest`: an account made without registering. */
export const useAuth = () => {
  const current = useSyncExternalStore(authStore.subscribe, authStore.get);
  return {
    ...current,
    guest: current.token !== '' && (current.user?.guest ?? false),
    signedIn: current.token !== '' && current.user !== null && !current.user.guest,
  };
};
