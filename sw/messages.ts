import type { WaitRef, WaitResult } from '#contract/wait.ts';

/**
 * What page and service worker say to each other, and the names that both must know. Each side
 * may be older than the other (a tab from before an update): unknown messages are ignored.
 */

/** Something that ends later, while the page is out of sight looked after by the worker. */
export interface Wait extends WaitRef {
  /** Since when, ms since 1970: what was told after that is told. */
  since: number;
  /** How often it is asked for, ms. */
  every: number;
  /** Until when, ms since 1970. */
  deadline: number;
}

/** What the browser calls the worker's later looks at its waits by: Background and Periodic Sync. */
export const waitsTag = 'queqiao-waits';
/** The same for what is written and waits to be sent. */
export const outboxTag = 'queqiao-outbox';

/** Whoever sends from the outbox, a tab or the worker, holds this Web Lock. */
export const outboxLock = 'queqiao.outbox';
/** The BroadcastChannel on which the sender tells all tabs what became of it. */
export const outboxChannel = 'queqiao.outbox';

/** From a tab to the worker. */
export type ToWorker =
  /** The person agreed to the new version: the waiting worker takes over. */
  | { type: 'take-update' }
  /** The first screen stands: what the others need is fetched ahead. */
  | { type: 'complete-shell' }
  /** The person left (logout, another account): nothing of theirs may stay. */
  | { type: 'forget' }
  /** The tab goes out of sight or offline: the worker is to look after these. */
  | { type: 'waits-over'; waits: Wait[]; token: string }
  /** The tab is back and looks after these itself. */
  | { type: 'waits-back'; waits: WaitRef[] };

/** From the worker to all tabs, with a port to answer true or false on. */
export type FromWorker =
  /** A click on a notification, where a tab is open already: go there without loading anew. */
  | { type: 'open'; url: string }
  /** Something that was waited for has ended. True: whoever looks at this tab is told there. */
  | { type: 'wait-ended'; result: WaitResult };

/**
 * Where the manifest lets other apps send what is shared; the worker answers it. What came is in
 * the cache `shared`: its text under `sharedText`, its files under /share-target/0 and so on.
 */
export const shareTarget = '/share-target';
export const sharedText = `${shareTarget}/text`;
export interface SharedText {
  text: string;
}

export const cacheNames = {
  /** Chunks of the build before this one, for tabs that still run it. */
  former: 'queqiao-former',
  /** Libraries that come on first use: Mermaid, KaTeX, languages of code, fonts. */
  libraries: 'queqiao-libraries',
  /** Small images below /files/: thumbnails and avatars. */
  thumbnails: 'queqiao-thumbnails',
  /** The same in full. */
  images: 'queqiao-pictures',
  /** Files that another app shared, until the page has taken them. */
  shared: 'queqiao-shared',
  /** Nothing but bytes: a full disk gets their room back, so that what is kept on it can be opened. */
  reserve: 'queqiao-reserve',
} as const;

/** Of these, nothing stays after a logout. */
export const personalCaches = [
  cacheNames.thumbnails,
  cacheNames.images,
  cacheNames.shared,
] as const;
