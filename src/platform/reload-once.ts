const key = 'queqiao.reloaded';
const apart = 60_000;

/** The page was not loaded anew within the last minute: a lasting fault shows. */
export const mayReload = (): boolean =>
  Date.now() - Number(sessionStorage.getItem(key) ?? 0) >= apart;

/** Loads the page anew, if it may. */
export const reloadOnce = (): void => {
  if (!mayReload()) return;
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
};
