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

/** Whose sign-in ended right before this load, and why, once; null: nobody's. */
export const takeLoginEnded = (): Ended | null => {
  try {
    const [, whose, why = ''] =
      /^(account|guest) (.*)$/.exec(sessionStorage.getItem(key) ?? '') ?? [];
    sessionStorage.removeItem(key);
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
  } catch {
    // Nothing was kept there, either.
  }
};
