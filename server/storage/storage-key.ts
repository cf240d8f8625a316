const key = /^[0-9a-f]{40}(?:\.[0-9a-z]{1,8}){0,3}$/;

/** @throws Error for what newKey did not make */
export const requireKey = (value: string): void => {
  if (!key.test(value)) throw new Error('this is no key of the storage');
};
