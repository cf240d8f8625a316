import { ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { toast } from '#src/platform/toast.ts';
import { format } from 'date-fns';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/** The membership ends within a week: said once, until it is prolonged and ends again. */
const VipEnding = () => {
  const navigate = useNavigate();
  useEffect(() => {
    const end = authStore.get().user?.vip_expired_at;
    if (!end) return;
    toast(`会员 ${format(new Date(end), 'M 月 d 日')}到期，续费之后不会中断`, 'info', {
      label: '去续费',
      run: () => void navigate({ to: '/account', search: { tab: 'vip' } }),
    });
    api.vipEndSeen({}, { quiet: true }).catch(ignoreApiError);
  }, [navigate]);
  return null;
};

export default VipEnding;
