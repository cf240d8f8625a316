import { createStore } from './store.ts';

/** Whether what was last to be kept on this device found no room there. */
export const deviceFull = createStore(false);

/** Whether what is kept on this device could not be read, for want of room. */
export const keptUnread = createStore(false);
