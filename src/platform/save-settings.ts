import { ApiError } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { act, settingsLane } from './outbox.ts';
import { useSettings } from './queries.ts';
import type { Settings } from '#contract/auth.ts';
import { useEffect, useRef } from 'react';

/** A slider that is being dragged is saved once, this long after it rests, ms. */
const rest = 500;

/** The settings as shown: a change is seen at once and saved when it rests; a refused one is taken back. */
export const useSaveSettings = () => {
  const settings = useSettings();
  const unsaved = useRef<Settings>({});
  const saved = useRef<string>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const flush = async () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    const change = unsaved.current;
    const before = saved.current;
    unsaved.current = {};
    saved.current = undefined;
    if (Object.keys(change).length === 0) return;
    try {
      await act('saveSettings', settingsLane, change);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { user } = authStore.get();
      if (user && before !== undefined) authStore.set({ user: { ...user, setting: before } });
    }
  };

  // Leaving the screen within that time still saves.
  const last = useRef(flush);
  useEffect(() => {
    last.current = flush;
  });
  useEffect(() => () => void last.current(), []);

  const save = (change: Settings) => {
    const { user } = authStore.get();
    if (!user) return;
    saved.current ??= user.setting;
    unsaved.current = { ...unsaved.current, ...change };
    authStore.set({ user: { ...user, setting: JSON.stringify({ ...settings, ...change }) } });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void flush(), rest);
  };
  return { settings, save };
};
