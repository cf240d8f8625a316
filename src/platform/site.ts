import type { Out } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { useEffect } from 'react';
import { api } from './api.ts';
import { createStore, useStore } from './store.ts';

/** What whoever runs this server has set, as far as pages tell it. */
type Site = Out<'siteInfo'>;

const key = 'queqiao.site';
const usual: Site = {
  official_site: '',
  wechat: '',
  min_prompt_bytes: limits.minPromptBytes,
  signup_tokens: limits.signupTokens,
  web_search: false,
  foot: { operator: '', report: '', icp: '', police: '', algorithm: '', model_record: '' },
  agreements: [],
  ask_agreements: false,
  mark_text: false,
  mark_images: false,
  allow_unmarked: false,
};

/** As it was known last: menus and texts then have their final size from the start. */
const known = (): Partial<Site> => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return typeof kept === 'object' && kept !== null ? kept : {};
  } catch {
    return {};
  }
};

const store = createStore<Site>({ ...usual, ...known() });
let asked: Promise<void> | null = null;

const ask = async (): Promise<void> => {
  try {
    const fresh = await api.siteInfo({}, { quiet: true });
    store.set({ ...usual, ...fresh });
    localStorage.setItem(key, JSON.stringify(fresh));
  } catch {
    // Not answered, or not kept: the next life of the page asks again.
  }
};

/** Asks the server once for each life of the page. */
const loadSite = (): Promise<void> => (asked ??= ask());

/** What this site can has changed by this page. */
export const refreshSite = (): Promise<void> => (asked = ask());

// A call was refused until the agreements are agreed to: they may be newer than this page.
globalThis.addEventListener?.('agree', () => void refreshSite());

/** As far as it is known now. */
export const site = (): Site => store.get();

export const useSite = (): Site => {
  useEffect(() => void loadSite(), []);
  return useStore(store);
};
