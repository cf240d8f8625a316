import type { In, Out, PlainCallName } from '#contract/calls.ts';
import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  type InfiniteData,
  type QueryFunctionContext,
  type UseInfiniteQueryOptions,
  type UseQueryOptions,
} from '@tanstack/react-query';
import { api } from './api.ts';
import type { ApiOptions } from './server-api.ts';

/** A call's name and input. The name alone begins all of its keys and finds every query of it. */
type CallKey<K extends PlainCallName> = readonly [name: K, input?: In<K>, apart?: unknown];
type Call<K extends PlainCallName> = (input: In<K>, options: ApiOptions) => Promise<Out<K>>;
interface Apart {
  /** What its answer depends on beside the input. */
  apart?: unknown;
}
type Options<K extends PlainCallName, T> = Apart &
  Omit<UseQueryOptions<Out<K>, Error, T, CallKey<K>>, 'queryKey' | 'queryFn'>;

export const callKey = <K extends PlainCallName>(name: K, input: In<K>): CallKey<K> =>
  Object.keys(input).length === 0 ? [name] : [name, input];

/** The query of a call: its failures are shown where its answer would be. */
export const callQuery = <K extends PlainCallName, T = Out<K>>(
  name: K,
  input: In<K>,
  { apart, ...options }: Options<K, T> = {},
) => ({
  ...options,
  queryKey: apart === undefined ? callKey(name, input) : ([name, input, apart] as const),
  queryFn: ({ signal }: QueryFunctionContext<CallKey<K>>) =>
    (api[name] as Call<K>)(input, { signal, quiet: true }),
});

/** For what does not change while the page is open. */
export const steady = { staleTime: Infinity, meta: { steady: true } };

/** The answer to another input stays on screen until this one's is there. */
export const keepLast = { placeholderData: keepPreviousData };

/** Reads a call for as long as a screen shows its answer. */
export const useCall = <K extends PlainCallName, T = Out<K>>(
  name: K,
  input: In<K>,
  options?: Options<K, T>,
) => useQuery(callQuery(name, input, options));

interface Paged {
  page: number;
  page_count: number;
}
type PagedName = {
  [K in PlainCallName]: Out<K> extends Paged ? ('page' extends keyof In<K> ? K : never) : never;
}[PlainCallName];

type PageOptions<K extends PlainCallName> = Apart &
  Partial<
    Omit<
      UseInfiniteQueryOptions<Out<K>, Error, InfiniteData<Out<K>, number>, CallKey<K>, number>,
      'queryKey' | 'queryFn'
    >
  >;

/** The page after this one; undefined: it is the last. */
export const nextPage = ({ page, page_count: count }: Paged): number | undefined =>
  page < count ? page + 1 : undefined;

/** Reads a call's pages, one after the other as they are asked for. */
export const useCallPages = <K extends PagedName>(
  name: K,
  input: Omit<In<K>, 'page'>,
  { apart, ...options }: PageOptions<K> = {},
) =>
  useInfiniteQuery({
    initialPageParam: 1,
    getNextPageParam: nextPage,
    ...options,
    queryKey: [name, input as In<K>, { pages: apart ?? '' }] as CallKey<K>,
    queryFn: ({ pageParam, signal }) =>
      (api[name] as Call<K>)({ ...input, page: pageParam } as In<K>, { signal, quiet: true }),
  });
