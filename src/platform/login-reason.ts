import { createStore, useStore } from './store.ts';

const reason = createStore('');

/** Why somebody was led to where one signs in; it is said there, until they leave it. */
export const noteLoginReason = (text: string): void => reason.set(text);
export const useLoginReason = (): string => useStore(reason);
