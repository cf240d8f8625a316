import { ApiError } from '@/shared/api-error.ts';
import { authStore } from '@/shared/auth-store.ts';
import { prefsStore } from '@/shared/prefs.ts';
import { alertDialog } from '@/shared/ui/dialog.ts';
import type { Settings } from '@contract/auth.ts';
import type { Out } from '@contract/calls.ts';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import type { CaptchaAnswer } from './captcha-field.tsx';

/**
 * What login and registration share: the answer becomes the sign-in of this browser, or a dialog.
 * `submit` runs one try with what was read of the captcha, where one is asked for; `captcha` is what
 * its field needs then, with a new picture after each refusal that asks for one. Null: none is.
 */
export const useSignIn = (back: string | undefined) => {
  const router = useRouter();
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const [read, setRead] = useState<CaptchaAnswer>({ captcha: '', captchaid: '' });

  const submit = async (run: (read: Partial<CaptchaAnswer>) => Promise<Out<'login'>>) => {
    setBusy(true);
    try {
      const answer = await run(round > 0 ? read : {});
      if (answer.captcha) setRound((count) => count + 1);
      if (answer.error) {
        await alertDialog({ title: '提示', text: answer.error });
        return;
      }
      if (!answer.token || !answer.profile) return;
      authStore.set({ token: answer.token, user: answer.profile });
      const saved = JSON.parse(answer.profile.setting || '{}') as Settings;
      if (saved.dark_style) prefsStore.set({ dark: saved.dark_style });
      await router.navigate({ href: back ?? '/', replace: true });
    } catch (error) {
      // A failed call has shown its own toast, and what was typed stays.
      if (!(error instanceof ApiError)) throw error;
    } finally {
      setBusy(false);
    }
  };
  const captcha = round > 0 ? { round, value: read, onChange: setRead } : null;
  return { submit, busy, captcha };
};
