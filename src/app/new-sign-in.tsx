import { ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Somebody signed in to this account where it was not used before: said once on each other device. */
const NewSignIn = () => {
  const navigate = useNavigate();
  useEffect(() => {
    const made = authStore.get().user?.new_sign_in;
    if (!made) return;
    toast(`${dateTime(made.created_at)}，${made.name} 第一次登录了您的账号`, 'error', {
      label: '不是我',
      run: () => void navigate({ to: '/account', search: { tab: 'security' } }),
    });
    api.newSignInSeen({}, { quiet: true }).catch(ignoreApiError);
  }, [navigate]);
  return null;
};

export default NewSignIn;
