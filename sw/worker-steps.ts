/** What the worker calls on the way of an act, besides the acts themselves. */
export const workerSteps = ['generateImage', 'lastMessages', 'uploadImage', 'uploadFile'] as const;
