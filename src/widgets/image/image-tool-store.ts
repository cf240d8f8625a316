import { useSyncExternalStore } from 'react';
import { createStore, useStore } from '#src/platform/store.ts';
import type { PickedImage } from './picked-image.ts';

/** Of small weight: the page's first screens may know of the tool without loading it. */

export const imageToolTabs = [
  'inscription',
  'prompt',
  'parameter',
  'tags',
  'checkpoint',
  'style',
  'controlnet',
  'size',
  'img2img',
] as const;
export type ImageToolTab = (typeof imageToolTabs)[number];

export interface ImageToolRequest {
  /** Of the text and the draft that the tool works on: 'home' or a session's uuid. */
  key: string;
  /** Name of the model of images. */
  model: string;
  tab?: ImageToolTab;
  /** Of the tab img2img: this base image is to be cropped first. */
  crop?: PickedImage;
}

const opened = createStore<ImageToolRequest | null>(null);

/** Shows the image tool for a box; it stands once in the page and loads when first opened. */
export const openImageTool = (request: ImageToolRequest): void => opened.set(request);
/** Of a box: only where it is that one's. */
export const closeImageTool = (key?: string): void => {
  if (key === undefined || opened.get()?.key === key) opened.set(null);
};
export const useImageTool = (): ImageToolRequest | null => useStore(opened);

const working = createStore<ReadonlySet<string>>(new Set());

/** While the prompt helper works on the words of a box, they are not sent. */
export const setImageBusy = (key: string, busy: boolean): void => {
  const next = new Set(working.get());
  if (busy) next.add(key);
  else next.delete(key);
  working.set(next);
};

export const useImageBusy = (key: string): boolean =>
  useSyncExternalStore(working.subscribe, () => working.get().has(key));

const senders = createStore<ReadonlyMap<string, () => void>>(new Map());

/** Tells how what stands in a box is sent, so that the tool can, too; gives what takes it back. */
export const provideImageSend = (key: string, send: () => void): (() => void) => {
  senders.set(new Map(senders.get()).set(key, send));
  return () => {
    if (senders.get().get(key) !== send) return;
    const next = new Map(senders.get());
    next.delete(key);
    senders.set(next);
  };
};

/** Undefined: nothing sends that box now. */
export const useImageSend = (key: string): (() => void) | undefined =>
  useSyncExternalStore(senders.subscribe, () => senders.get().get(key));
