import { ApiError } from '@/shared/api-error.ts';
import { authStore } from '@/shared/auth-store.ts';
import { prefsStore } from '@/shared/prefs.ts';
import { alertDialog } from '@/shared/ui/dialog.ts';
import type { Settings } from '@contract/auth.ts';
import type { Out } from '@contract/calls.ts';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';

/**
 * What login and registration share: the answer becomes the sign-in of this browser, or a dialog.
 * `submit` runs one try; `captcha` grows with each refusal that asks for one, so that a new picture comes.
 */
export const useSignIn = (back: string | undefined) => {
  const router = useRouter();
  const [busy, setBusy] = useState(false);
  const [captcha, setCaptcha] = useState(0);

  const submit = async (run: () => Promise<Out<'login'>>) => {
    setBusy(true);
    try {
      const answer = await run();
      if (answer.captcha) setCaptcha((count) => count + 1);
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
  return { submit, busy, captcha };
};
