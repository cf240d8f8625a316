/** Background Sync and Periodic Sync, which the library of types does not know. */
export interface SyncEvent extends ExtendableEvent {
  tag: string;
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms));
