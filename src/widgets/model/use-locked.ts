import { useAuth } from '#src/platform/auth-store.ts';
import { toast } from '#src/platform/toast.ts';
import type { Model } from '#contract/model.ts';
import { useNavigate } from '@tanstack/react-router';

/** Leads whoever has an account and chooses a model that is only for those who paid to paying; true: it did. */
export const useLocked = () => {
  const navigate = useNavigate();
  const { signedIn } = useAuth();
  return (model: Model): boolean => {
    if (model.locked !== 1 || !signedIn) return false;
    toast(`${model.label}只给付费用户：充值过一次或开通会员后就能用`);
    void navigate({ to: '/account', search: { tab: 'recharge' } });
    return true;
  };
};
