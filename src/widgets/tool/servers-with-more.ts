import { useAuth } from '#src/platform/auth-store.ts';
import { useCall } from '#src/platform/call-query.ts';

/** The servers that a person has switched on for this. */
export const useServersWithMore = (wanted = true): readonly { id: number; name: string }[] => {
  const { signedIn } = useAuth();
  const enabled = signedIn && wanted;
  const servers = useCall('toolServers', {}, { enabled, staleTime: 60_000 });
  return servers.data?.list.filter(({ enabled: on, more }) => on && more) ?? [];
};
