import type { ActName, NewAct } from '#common/outbox/act.ts';

/** What is noted of an act that is on its way. */
export interface Note {
  act: NewAct;
  account: string;
  /** When it was noted, by `stamp`; an earlier version of the page did not say. */
  at?: number;
  /** The box that it comes from, where that is not its lane's. */
  box?: string;
}

export type OfName<T, K extends ActName> = Extract<T, { name: K }>;
