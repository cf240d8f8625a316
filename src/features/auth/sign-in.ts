import { useAct } from '#src/platform/use-act.ts';
import { tonesOf } from '#src/platform/accent-tones.ts';
import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { closeLoginOpen } from '#src/platform/login-ended.ts';
import { keepDevice } from '#src/platform/known-device.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { alertDialog } from '#src/ui/dialog.ts';
import type { Settings } from '#contract/auth.ts';
import type { Out } from '#contract/calls.ts';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import type { CaptchaAnswer } from '#src/widgets/sign-in/captcha-field.tsx';

/** Whether this site is still at its first start. */
const startsHere = async (): Promise<boolean> => {
  try {
    return (await api.setupState({}, { quiet: true })).ended === 0;
  } catch {
    return false;
  }
};

/** What was chosen here, or with the switch of another client. */
const darkOf = (style: NonNullable<Settings['dark_style']>) =>
  typeof style === 'string' ? style : (['light', 'dark'] as const)[style];

/**
 * What login and registration share: the answer becomes the sign-in of this browser, or a dialog.
 * `submit` makes one try with what was read of the captcha, where one is asked for; `captcha` is what
 * its field needs then, with a new image after each refusal that asks for one. Null: none is.
 * @param entered takes away what was typed
 */
export const useSignIn = (back: string | undefined, entered: () => void) => {
  const router = useRouter();
  const { busy, run } = useAct();
  const [round, setRound] = useState(0);
  const [totp, setTotp] = useState<string>();
  const [read, setRead] = useState<CaptchaAnswer>({ captcha: '', captchaid: '' });

  const submit = async (sign: (read: Partial<CaptchaAnswer>) => Promise<Out<'login'>>) => {
    let refused = '';
    // A failed call has shown its own toast, and what was typed stays.
    await run(async () => {
      const answer = await sign(round > 0 ? read : {});
      if (answer.captcha) setRound((count) => count + 1);
      if (answer.totp) setTotp('');
      refused = answer.error ?? '';
      if (refused !== '' || !answer.token || !answer.profile) return;
      // Before another person's drafts are in sight.
      entered();
      if (answer.device) await keepDevice(answer.profile.account, answer.device);
      authStore.set({ token: answer.token, user: answer.profile });
      closeLoginOpen();
      const saved = JSON.parse(answer.profile.setting || '{}') as Settings;
      prefsStore.set({
        ...(saved.dark_style !== undefined && { dark: darkOf(saved.dark_style) }),
        ...(saved.theme && { theme: saved.theme }),
        ...(saved.theme_color !== undefined && {
          accent: saved.theme_color,
          tones: tonesOf(saved.theme_color),
        }),
        ...(saved.text_size && { text: saved.text_size }),
        ...(saved.max_width && { width: saved.max_width }),
      });
      // Who owns a site that is not ready yet is led on.
      const first = back === undefined && answer.profile.owner && (await startsHere());
      await router.navigate({ href: back ?? (first ? '/manager/setup' : '/'), replace: true });
    });
    // The button is free again while that is read.
    if (refused !== '') await alertDialog({ title: '提示', text: refused });
  };
  const captcha = round > 0 ? { round, value: read, onChange: setRead } : null;
  return { submit, busy, captcha, totp, setTotp };
};
