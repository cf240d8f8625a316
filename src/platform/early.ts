declare global {
  interface Window {
    /** What src/app/boot.js asked for before this code was there, by path and query. */
    queqiaoEarly?: {
      /** On whose behalf; empty: nobody's. */
      token: string;
      answers: Record<string, Promise<Response | undefined>>;
    };
  }
}

/** How long after the start an answer is still fresh, ms. */
const fresh = 10_000;

/**
 * The answer that the first HTML asked for already, once; undefined: it did not, it came to
 * nothing, or it is another's or too old.
 * @param url path and query
 */
export const takeEarly = async (url: string, token: string): Promise<Response | undefined> => {
  const early = globalThis.window?.queqiaoEarly;
  const answer = early?.answers[url];
  if (!early || !answer) return undefined;
  delete early.answers[url];
  return early.token === token && performance.now() < fresh ? await answer : undefined;
};
