import type { Out, PlainCallName } from '#contract/calls.ts';

export interface UnsentHooks {
  /** What a call about a fresh session answers; undefined: the server has to. */
  local: (name: PlainCallName, input: unknown) => unknown;
  /** An answer with what waits already done to it. */
  over: <K extends PlainCallName>(name: K, input: unknown, data: Out<K>) => Out<K>;
}
