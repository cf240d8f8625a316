import { createStore, useStore, type Store } from '@/shared/store.ts';

/** What goes with the next message beside its words. */
export interface Compose {
  /** In a session of people: name of the model that shall answer; empty: none. */
  ai: string;
  /** The person spoken to. */
  atUser: { id: number; name: string } | null;
}

const nothing: Compose = { ai: '', atUser: null };
const stores = new Map<string, Store<Compose>>();

/** The choices for the next message of a session, kept while the page lives. */
const composeOf = (uuid: string): Store<Compose> => {
  let store = stores.get(uuid);
  if (!store) {
    store = createStore(nothing);
    stores.set(uuid, store);
  }
  return store;
};

export const readCompose = (uuid: string): Compose => composeOf(uuid).get();

export const useCompose = (uuid: string): Compose => useStore(composeOf(uuid));

/** Changes what is given and keeps the rest: `setCompose(uuid, { atUser })` is the act 回复. */
export const setCompose = (uuid: string, change: Partial<Compose>): void => {
  const store = composeOf(uuid);
  store.set({ ...store.get(), ...change });
};

export const clearCompose = (uuid: string): void => composeOf(uuid).set(nothing);
