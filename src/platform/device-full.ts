import { createStore } from './store.ts';

/** Whether what was last to be kept on this device found no room there. */
export const deviceFull = createStore(false);
