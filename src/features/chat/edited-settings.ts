import type { Settings } from '#contract/auth.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { act, laterText, settingsLane } from '#src/platform/outbox.ts';
import { useSettings } from '#src/platform/queries.ts';
import { settingsOf } from '#src/platform/saved-settings.ts';
import { toast } from '#src/platform/toast.ts';
import { useEffect, useRef, useState } from 'react';

/** A slider is saved when it has come to rest, ms. */
const rest = 400;

/** The settings as they stand on the page: saved ones, with what was just changed over them. */
export const useEditedSettings = () => {
  const saved = useSettings();
  const [changed, setChanged] = useState<Settings>({});
  const waiting = useRef<Settings>({});
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const save = async () => {
    const change = waiting.current;
    waiting.current = {};
    if (Object.keys(change).length === 0) return;
    try {
      const done = await act('saveSettings', settingsLane, change);
      const { user } = authStore.get();
      const setting = done?.setting ?? JSON.stringify({ ...settingsOf(user), ...change });
      if (user) authStore.set({ user: { ...user, setting } });
      toast(done ? '修改成功' : `已改，${laterText}`, 'success');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The call has said why; the page shows what is saved.
      setChanged({});
    }
  };
  const saveNow = useRef(save);
  useEffect(() => {
    saveNow.current = save;
  });
  // Closing the panel does not lose the last change.
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      void saveNow.current();
    },
    [],
  );
  const change = (next: Settings) => {
    setChanged((before) => ({ ...before, ...next }));
    waiting.current = { ...waiting.current, ...next };
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void saveNow.current(), rest);
  };
  return { settings: { ...saved, ...changed }, change };
};
