const key = 'queqiao.login-ended';
/** Stays until somebody signs in here, or chose to go on as a visitor. */
const openKey = 'queqiao.login-open';

interface Ended {
  whose: 'account' | 'guest';
  /** As the server says it. */
  why: string;
}

/** The page is about to be loaded anew because its sign-in has ended. */
export const noteLoginEnded = (whose: Ended['whose'], why: string): void => {
  try {
    if (whose === 'account') localStorage.setItem(openKey, '1');
    sessionStorage.setItem(key, `${whose} ${why}`);
  } catch {
    // Then nothing is said.
  }
};

/** As long as what is said of it must stand on a page to have been read, ms. */
const readAfter = 2_000;

/**
 * Whose sign-in ended right before this load, and why; null: nobody's. It is said once, but again
 * where the page was left before anybody could read it.
 */
export const takeLoginEnded = (): Ended | null => {
  try {
    const noted = sessionStorage.getItem(key);
    if (noted === null) return null;
    const [, whose, why = ''] = /^(account|guest) (.*)$/.exec(noted) ?? [];
    setTimeout(() => sessionStorage.removeItem(key), readAfter);
    return whose === 'account' || whose === 'guest' ? { whose, why } : null;
  } catch {
    return null;
  }
};

/** Whether an account's sign-in ended here by itself, and nobody has signed in since. */
export const isLoginOpen = (): boolean => {
  try {
    return localStorage.getItem(openKey) !== null;
  } catch {
    return false;
  }
};

export const closeLoginOpen = (): void => {
  try {
    localStorage.removeItem(openKey);
    sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept there, either.
  }
};
