import { api } from '@/platform/api.ts';
import { useAuth } from '@/platform/auth-store.ts';
import type { Channel } from '@contract/session.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

export interface SessionFilters {
  channel: Channel;
  page: number;
  page_size?: number;
  user_id?: number;
  scenario_id?: number;
  query?: string;
  model?: string;
}

/** One page of sessions. One's own need a token; without one there is nothing to ask for. */
export const useSessionList = (filters: SessionFilters) => {
  const { token } = useAuth();
  return useQuery({
    queryKey: ['sessionList', filters],
    queryFn: ({ signal }) => api.sessionList(filters, { signal, quiet: true }),
    enabled: filters.channel === 'public' || token !== '',

    placeholderData: (previous, query) =>
      (query?.queryKey[1] as SessionFilters | undefined)?.channel === filters.channel
        ? keepPreviousData(previous)
        : undefined,
  });
};

/** Name of the scenario that a list is narrowed to; empty: none, or not known. */
export const useScenarioName = (id: number | undefined): string =>
  useQuery({
    queryKey: ['scenarioList'],
    queryFn: ({ signal }) => api.scenarioList({}, { signal, quiet: true }),
    enabled: id !== undefined,
    staleTime: Infinity,
    meta: { steady: true },
  }).data?.list.find((scenario) => scenario.id === id)?.name ?? '';
