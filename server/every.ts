/** Does something every so many ms, never twice at once; gives its timer. */
export const every = (
  ms: number,
  act: () => Promise<void> | void,
  onFailed: (error: unknown) => void,
): NodeJS.Timeout => {
  let isBusy = false;
  const once = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      await act();
    } catch (error) {
      onFailed(error);
    } finally {
      isBusy = false;
    }
  };
  return setInterval(() => void once(), ms);
};
