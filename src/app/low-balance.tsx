import { ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { toast } from '#src/platform/toast.ts';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/** A tenth or less is left of the balance: said once, until tokens come again. */
const LowBalance = () => {
  const navigate = useNavigate();
  useEffect(() => {
    const { user } = authStore.get();
    if (!user) return;
    const left = compactNumber(user.chatgpt_balance + user.vip_balance);
    toast(`余额还剩 ${left} tokens，不到一成了`, 'error', {
      label: '去充值',
      run: () => void navigate({ to: '/account', search: { tab: 'recharge' } }),
    });
    api.lowBalanceSeen({}, { quiet: true }).catch(ignoreApiError);
  }, [navigate]);
  return null;
};

export default LowBalance;
