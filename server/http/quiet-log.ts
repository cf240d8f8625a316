import type { LogFn, LoggerOptions } from 'pino';

/** For so long after a warning the same one is only counted, ms. */
const quietMs = 10_000;
const warning = 40;
/** Warnings that are remembered at once. */
const mostKinds = 1_000;

/** What a warning of a failure says; empty for others, such as a refused sign-in, which each count. */
const failureIn = ([about, text]: readonly unknown[]): string => {
  const { err } = (about ?? {}) as { err?: { message?: string } };
  return err ? `${String(text)} ${err.message ?? ''}` : '';
};

/**
 * Says a warning of a failure that repeats once, and then how often it came within ten seconds.
 * Errors all stay: each may name another request.
 */
export const quietRepeats = (): NonNullable<LoggerOptions['hooks']> => {
  const more = new Map<string, number>();
  return {
    logMethod(given: Parameters<LogFn>, method, level) {
      const text = level === warning ? failureIn(given) : '';
      if (text === '' || more.size >= mostKinds) {
        method.apply(this, given);
        return;
      }
      const repeated = more.get(text);
      if (repeated !== undefined) {
        more.set(text, repeated + 1);
        return;
      }
      more.set(text, 0);
      method.apply(this, given);
      setTimeout(() => {
        const count = more.get(text) ?? 0;
        more.delete(text);
        if (count > 0) method.call(this, { repeated: count }, `again: ${text.trim()}`);
      }, quietMs).unref();
    },
  };
};
