import { type ComponentType, createElement, lazy, type ReactNode, Suspense } from 'react';
import { onLineWell } from './line.ts';

const failed = 'vite:preloadError';
const quiet = (event: Event) => event.stopImmediatePropagation();
let running = 0;

/** The page loads itself anew for a screen whose files are gone; what only adorns is not worth that. */
const withoutReload = async <T>(load: () => Promise<T>): Promise<T> => {
  if (running++ === 0) addEventListener(failed, quiet, { capture: true });
  try {
    return await load();
  } finally {
    if (--running === 0) removeEventListener(failed, quiet, { capture: true });
  }
};

/** Loads once; what failed is loaded again at the next call. */
export const lazyChunk = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= withoutReload(load).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
};

/** Between two tries while the network seems to be there, ms; after so many only when the line says that it is well. */
const pause = 15_000;
const mostTries = 5;

/**
 * Calls `use` with what was loaded. Without a network it waits for that and tries again; what is
 * shown meanwhile stays. Gives its cancel.
 */
export const whenLoaded = <T>(load: () => Promise<T>, use: (loaded: T) => void): (() => void) => {
  let gone = false;
  let tries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let leaveLine = () => {};
  const rest = () => {
    clearTimeout(timer);
    removeEventListener('online', again);
    leaveLine();
  };
  const attempt = async () => {
    rest();
    let loaded: T;
    try {
      loaded = await load();
    } catch {
      if (gone) return;
      tries += 1;
      addEventListener('online', again);
      leaveLine = onLineWell(again);
      if (navigator.onLine && tries < mostTries) timer = setTimeout(again, pause);
      return;
    }
    if (!gone) use(loaded);
  };
  const again = () => void attempt();
  again();
  return () => {
    gone = true;
    rest();
  };
};

/** A part that waits together with what it stands in, which says what is shown meanwhile. */
export const lazyWithin: typeof lazy = (load) =>
  lazy(
    () =>
      new Promise((resolve) => {
        whenLoaded(load, resolve);
      }),
  );

type Part = (props: never) => ReactNode;
type PropsOf<P extends Part> = P extends () => ReactNode ? object : Parameters<P>[0];

/**
 * A part that a press asked for, such as a sheet. Without a network its place stays as it waits: the
 * screen around it, and what is written there, goes on. Where its files are gone the page loads anew.
 * @param waiting stands in its place until it is loaded
 */
export const lazyAsked = <P extends Part>(
  load: () => Promise<{ default: P }>,
  waiting: ReactNode = null,
) => {
  const Loaded = lazyWithin(load as unknown as () => Promise<{ default: ComponentType<object> }>);
  return (props: PropsOf<P>): ReactNode =>
    createElement(Suspense, { fallback: waiting }, createElement(Loaded, props));
};

/** The same of what is only met on a screen: for that the page does not load anew. */
export const lazyPart = <P extends Part>(
  load: () => Promise<{ default: P }>,
  waiting: ReactNode = null,
) => lazyAsked(lazyChunk(load), waiting);

/** What engines say of a file of the page's own code that did not come. */
const missing = [
  'dynamically imported module',
  'Importing a module script failed',
  'Unable to preload CSS',
];
export const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && missing.some((words) => error.message.includes(words));
