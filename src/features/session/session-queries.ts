import { steady, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import type { Channel } from '#contract/session.ts';
import { keepPreviousData } from '@tanstack/react-query';

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
  return useCall('sessionList', filters, {
    enabled: filters.channel === 'public' || token !== '',
    placeholderData: (previous, query) =>
      (query?.queryKey[1] as SessionFilters | undefined)?.channel === filters.channel
        ? keepPreviousData(previous)
        : undefined,
  });
};

/** Name of the scenario that a list is narrowed to; empty: none, or not known. */
export const useScenarioName = (id: number | undefined): string =>
  useCall('scenarioList', {}, { ...steady, enabled: id !== undefined }).data?.list.find(
    (scenario) => scenario.id === id,
  )?.name ?? '';
