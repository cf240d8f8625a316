import type { Channel } from '@contract/session.ts';

/**
 * What stands in an address after the question mark, as plain text (`?query=12` is the text 12).
 * Unreadable values are dropped: an address typed by hand never breaks a screen.
 */
type Raw = Record<string, unknown>;

const words = (raw: Raw, key: string, max = 200): string | undefined => {
  const value = raw[key];
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return String(value).slice(0, max) || undefined;
};

const whole = (raw: Raw, key: string): number | undefined => {
  const value = Number(words(raw, key));
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined;
};

const on = (raw: Raw, key: string): 1 | undefined => (words(raw, key) === '1' ? 1 : undefined);

/** A place of this page, as an address is written; anything that could lead elsewhere is dropped. */
const place = (raw: Raw, key: string): string | undefined => {
  const value = words(raw, key, 2000);
  if (value === undefined || !value.startsWith('/')) return undefined;
  const here = 'http://here';
  try {
    const { origin, pathname, search, hash } = new URL(value, here);
    return origin === here ? `${pathname}${search}${hash}` : undefined;
  } catch {
    return undefined;
  }
};

const channels: readonly Channel[] = ['public', 'private', 'favorites'];

export interface HomeSearch {
  channel?: Channel;
  page?: number;
  user_id?: number;
  model?: string;
  query?: string;
  scenario_id?: number;
  /** 1: the new-session box gets the focus. */
  new?: 1;
  /** Of the new-session area; chat when left out. */
  tab?: 'free' | 'imagine';
  /** A session is made that asks this knowledge base. */
  embedding?: string;
  /** What another app shared waits to be taken (src/app/phone.tsx); 0: it was lost. */
  shared?: '0' | '1';
}
export const homeSearch = (raw: Raw): HomeSearch => ({
  channel: channels.find((channel) => channel === raw['channel']),
  page: whole(raw, 'page'),
  user_id: whole(raw, 'user_id'),
  model: words(raw, 'model', 100),
  query: words(raw, 'query'),
  scenario_id: whole(raw, 'scenario_id'),
  new: on(raw, 'new'),
  tab: raw['tab'] === 'free' || raw['tab'] === 'imagine' ? raw['tab'] : undefined,
  embedding: words(raw, 'embedding', 64),
  shared: raw['shared'] === '1' || raw['shared'] === '0' ? raw['shared'] : undefined,
});

export interface ChatSearch {
  uuid?: string;
  /** The list opens at this message. */
  history_id?: number;
  /** 1: `history_id` alone is shown. */
  favorite?: 1;
  prompt?: string;
  /** 1: the prompt is sent at once. */
  send?: 1;
  /** 1: the prompt is one of the page's own suggestions. */
  suggestion?: 1;
  back?: string;
  /** Of a session of pictures: the image tool opens. */
  open?: 'img-tool';
  /** The tool's tab. */
  tab?: string;
  /** Address of a picture to start from. */
  image_url?: string;
  /** Without a uuid: a session is made that asks this knowledge base. */
  embedding?: string;
}
export const chatSearch = (raw: Raw): ChatSearch => ({
  uuid: words(raw, 'uuid', 36),
  history_id: whole(raw, 'history_id'),
  favorite: on(raw, 'favorite'),
  prompt: words(raw, 'prompt', 2_000_000),
  send: on(raw, 'send'),
  suggestion: on(raw, 'suggestion'),
  back: place(raw, 'back'),
  open: raw['open'] === 'img-tool' ? 'img-tool' : undefined,
  tab: words(raw, 'tab', 20),
  image_url: words(raw, 'image_url', 2000),
  embedding: words(raw, 'embedding', 64),
});

export interface SignInSearch {
  /** Where to go afterwards. */
  back?: string;
}
export const signInSearch = (raw: Raw): SignInSearch => ({ back: place(raw, 'back') });

export interface ErrorSearch {
  code?: string;
  message?: string;
}
export const errorSearch = (raw: Raw): ErrorSearch => ({
  code: words(raw, 'code', 64),
  message: words(raw, 'message', 500),
});

export interface RedirectSearch {
  to?: string;
  embedding?: string;
}
export const redirectSearch = (raw: Raw): RedirectSearch => ({
  to: place(raw, 'to'),
  embedding: words(raw, 'embedding', 64),
});

export interface ShareSearch {
  key?: string;
  /** Where reading begins. */
  page?: number;
}
export const shareSearch = (raw: Raw): ShareSearch => ({
  key: words(raw, 'key', 64),
  page: whole(raw, 'page'),
});

export interface HelpSearch {
  page?: string;
  query?: string;
}
export const helpSearch = (raw: Raw): HelpSearch => ({
  page: words(raw, 'page', 64),
  query: words(raw, 'query'),
});

export interface AccountSearch {
  tab?: 'usage' | 'settings';
}
export const accountSearch = (raw: Raw): AccountSearch => ({
  tab: raw['tab'] === 'usage' || raw['tab'] === 'settings' ? raw['tab'] : undefined,
});

export interface MyPicturesSearch {
  /** upload: what was uploaded; else what was drawn. */
  rank?: 'upload';
}
export const myPicturesSearch = (raw: Raw): MyPicturesSearch => ({
  rank: raw['rank'] === 'upload' ? 'upload' : undefined,
});

export const parseSearch = (search: string): Raw => Object.fromEntries(new URLSearchParams(search));

export const stringifySearch = (search: Raw): string => {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(search))
    if (typeof value === 'string' || typeof value === 'number') params.set(key, String(value));
  const text = params.toString();
  return text && `?${text}`;
};
