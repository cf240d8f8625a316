import { api } from '@/platform/api.ts';
import { useAuth } from '@/platform/auth-store.ts';
import { useQuery } from '@tanstack/react-query';

/** One's own keys, and whether the API may be used. */
export const useKeys = () => {
  const { signedIn } = useAuth();
  return useQuery({
    queryKey: ['apiKeys'],
    queryFn: ({ signal }) => api.apiKeys({}, { signal, quiet: true }),
    enabled: signedIn,
  });
};
