import type { Model } from '#contract/model.ts';
import type { sessionTypes } from '#contract/kinds.ts';
import type { SessionDetail } from '#contract/session.ts';
import { createContext, type ComponentType } from 'react';
import type { WorkRow } from './rows.ts';
import type { Thread } from './thread.ts';

/** By what a row or a box of a session asks for something to be made. */
export interface Making {
  thread: Thread;
  /** Goes to the newest row, and waits; false: it was refused, and that was told. */
  follow: (work: Promise<void>) => Promise<boolean>;
}

/** With what a session is shown and written in which things are made: images, videos. */
export interface SessionType {
  /** Its number. */
  type: Exclude<(typeof sessionTypes)[keyof typeof sessionTypes], 0 | 2>;
  /** The models that can be chosen in it. */
  models: 'image' | 'video';
  /** What is written in. */
  Box: ComponentType<{ session: SessionDetail; first: boolean }>;
  /** Stands in an empty one. */
  Hint: ComponentType<{ session: SessionDetail }>;
  Row: ComponentType<{ row: WorkRow }>;
  /** Shows nothing: brings what was made into the list. */
  Watch: ComponentType<{ session: SessionDetail }>;
  /**
   * Sends the words of a box with all that goes along.
   * @param key 'home' or a session's uuid
   */
  sendWords(
    this: void,
    key: string,
    text: string,
    model: Model | undefined,
    making: Making,
  ): Promise<void>;
}

/** How each is loaded, by its number; other types are conversations. */
export const SessionTypes = createContext<ReadonlyMap<number, () => Promise<SessionType>>>(
  new Map(),
);
