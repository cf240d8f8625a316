import { createStore, useStore } from '@/platform/store.ts';

/** The session whose image-to-video dialog is open; empty: none. */
const opened = createStore('');

export const openFilmSheet = (uuid: string): void => opened.set(uuid);
export const closeFilmSheet = (): void => opened.set('');
export const useFilmSheet = (uuid: string): boolean => useStore(opened) === uuid;
