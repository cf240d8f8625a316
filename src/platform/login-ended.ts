const key = 'queqiao.login-ended';

type Whose = 'account' | 'guest';

/** The page is about to be loaded anew because its sign-in has ended. */
export const noteLoginEnded = (whose: Whose): void => {
  try {
    sessionStorage.setItem(key, whose);
  } catch {
    // Then nothing is said.
  }
};

/** Whose sign-in ended right before this load, once; null: nobody's. */
export const takeLoginEnded = (): Whose | null => {
  try {
    const whose = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return whose === 'account' || whose === 'guest' ? whose : null;
  } catch {
    return null;
  }
};
