import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { onLineWell } from './line.ts';
import { showsKept, storedFirst } from './stored-first.ts';

/**
 * What screens read. A query with `meta: { steady: true }` (models, help) does not change by what
 * a person does here and is left alone after a mutating call.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a network a call answers from what was kept, or says at once that there is none.
      networkMode: 'always',
      persister: storedFirst,
      refetchOnReconnect: 'always',
      staleTime: 15_000,
      gcTime: 10 * 60_000,
      // A refusal stays a refusal; only a lost connection or a failing server is worth another try.
      retry: (count, error) =>
        count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: (count) => 800 * 2 ** count,
    },
  },
});

// What failed, or was shown from this browser for want of an answer, is read anew at once.
onLineWell(() => {
  void queryClient.refetchQueries({
    type: 'active',
    predicate: (query) => query.state.status === 'error' || showsKept(query),
  });
});

/** An answer, what the outbox makes of it and what other tabs tell come within this time, ms. */
const gatherMs = 60;
let gathering: Promise<void> | null = null;

/**
 * The one place that refreshes what is on screen after something was changed. What changes in one
 * go is read once: each reading is several calls.
 */
export const refreshScreens = (): Promise<void> =>
  (gathering ??= new Promise((resolve, reject) => {
    setTimeout(() => {
      gathering = null;
      queryClient
        .invalidateQueries({ predicate: (query) => query.meta?.['steady'] !== true })
        .then(resolve, reject);
    }, gatherMs);
  }));
