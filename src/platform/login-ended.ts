const key = 'queqiao.login-ended';

interface Ended {
  whose: 'account' | 'guest';
  /** As the server says it. */
  why: string;
}

/** The page is about to be loaded anew because its sign-in has ended. */
export const noteLoginEnded = (whose: Ended['whose'], why: string): void => {
  try {
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
