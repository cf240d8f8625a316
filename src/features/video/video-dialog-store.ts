import { createStore, useStore } from '#src/platform/store.ts';

/** The session whose image-to-video dialog is open; empty: none. */
const opened = createStore('');

export const openVideoSheet = (uuid: string): void => opened.set(uuid);
export const closeVideoSheet = (): void => opened.set('');
export const useVideoSheet = (uuid: string): boolean => useStore(opened) === uuid;
