import { useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';

/** One's own keys, and whether the API may be used. */
export const useKeys = () => {
  const { signedIn } = useAuth();
  return useCall('apiKeys', {}, { enabled: signedIn });
};
