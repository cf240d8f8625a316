import { createStore, useStore } from '#src/platform/store.ts';

/**
 * The key that was made, or typed, on this page: kept in its memory alone, so that examples and the
 * console can be filled in. Empty: none.
 */
const freshKey = createStore('');

export const useFreshKey = (): string => useStore(freshKey);
export const setFreshKey = (key: string): void => freshKey.set(key.trim());
