import { codeNumbers } from '#contract/page-errors.ts';
import { ApiError } from './api-error.ts';
import { createStore, useStore } from './store.ts';

interface Request {
  /** What was wrong with the one before; empty: it is the first. */
  fault: string;
  answer: (password: string | null) => void;
}

const waiting = createStore<readonly Request[]>([]);

/** Calls that wait for the person's password; the shell asks for the first. */
export const usePasswordRequests = () => useStore(waiting);

const askPassword = (fault: string) =>
  new Promise<string | null>((resolve) => {
    const entry: Request = {
      fault,
      answer: (password) => {
        waiting.set(waiting.get().filter((other) => other !== entry));
        resolve(password);
      },
    };
    waiting.set([...waiting.get(), entry]);
  });

/** The number alone is that of a login that has ended. */
const isAsked = ({ code, data }: ApiError): boolean =>
  code === codeNumbers.confirm_needed && (data as { confirm?: unknown } | null)?.confirm === true;

/**
 * Makes a call, and where the server asks who it is, asks the person for their password and makes it
 * again with that, until it is right or the person steps back.
 */
export const confirmed = async <T>(
  input: Record<string, unknown>,
  run: (input: Record<string, unknown>) => Promise<T>,
): Promise<T> => {
  let given = input;
  for (;;) {
    try {
      return await run(given);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const wrong = given !== input && error.code === codeNumbers.wrong_password;
      if (!wrong && !isAsked(error)) throw error;
      const password = await askPassword(wrong ? error.message : '');
      if (password === null)
        throw new ApiError(error.code, '没有输入密码，所以没有做', error.status, null);
      given = { ...input, password };
    }
  }
};
