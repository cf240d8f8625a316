/** How long one line is waited for, ms. */
export interface Patience {
  /** Without a first word until then another line is asked as well; null: none is. */
  hedgeMs: number | null;
  /** Without one until then it is given up. */
  deadlineMs: number;
}

/** What is to be done after a failure before the first word. */
export interface Verdict {
  /** Another line may be asked. */
  retriable: boolean;
  /** This key alone failed: the same channel's next one comes first. */
  sameChannel: boolean;
}

interface Race<L, T> {
  /** Best first. */
  lines: readonly L[];
  /** Ends all of it. */
  signal: AbortSignal;
  /** Nobody is asked anew for who has gone. */
  gone: AbortSignal;
  patience: (line: L) => Patience;
  /** Whether one more may be asked beside another now. */
  mayHedge: (line: L) => boolean;
  /**
   * Asks one line. `first` is to be called before its first word is used: false says that another
   * one was sooner, and that nothing of this one is wanted.
   */
  attempt: (line: L, signal: AbortSignal, first: () => boolean) => Promise<T>;
  /** What one that said nothing is given up with. */
  silence: () => Error;
  /** It failed; `first`: it had begun to answer. */
  failed: (line: L, error: Error, first: boolean) => Verdict;
  /** It had said nothing for so many ms when another one began to. */
  lost: (line: L, ms: number) => void;
  /** It is asked now. */
  asked: (line: L) => void;
  /** It said its first word after so many ms. */
  won: (line: L, ms: number) => void;
}

/** Why an attempt ends whose place another one took. */
const beaten = new Error('another line was sooner');

interface Runner<L> {
  line: L;
  abort: AbortController;
  since: number;
  timers: NodeJS.Timeout[];
}

/**
 * Asks lines until one begins to answer: the next one when one failed, and beside it when it says
 * nothing for longer than it usually takes. The first word decides; the others are cut. Rejects with
 * the winner's failure, the last failure where nobody began, or the signal's reason.
 */
export const race = <L extends { channelId: number }, T>(given: Race<L, T>): Promise<T> => {
  const { signal, gone } = given;
  let left = [...given.lines];
  const running = new Set<Runner<L>>();
  let winner: Runner<L> | null = null;
  let failure: Error | null = null;
  let hopeless = false;

  return new Promise<T>((resolve, reject) => {
    const stop = (runner: Runner<L>, reason: unknown): void => {
      for (const timer of runner.timers) clearTimeout(timer);
      running.delete(runner);
      runner.abort.abort(reason);
    };
    const onAbort = (): void => {
      for (const runner of running) stop(runner, signal.reason);
      reject(signal.reason as Error);
    };
    const finish = (end: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      for (const runner of running) stop(runner, beaten);
      end();
    };

    const next = (from: L | null, sameChannel: boolean): void => {
      const other = left.findIndex(
        ({ channelId }) => from === null || (channelId === from.channelId) === sameChannel,
      );
      const [line] = left.splice(Math.max(other, 0), 1);
      if (line === undefined || hopeless || gone.aborted) {
        if (running.size > 0) return;
        if (gone.aborted && !failure) finish(() => reject(gone.reason as Error));
        else finish(() => reject(failure ?? new Error('there is no line')));
        return;
      }
      start(line);
    };

    const start = (line: L): void => {
      const abort = new AbortController();
      const runner: Runner<L> = { line, abort, since: performance.now(), timers: [] };
      running.add(runner);
      const { hedgeMs, deadlineMs } = given.patience(line);
      given.asked(line);
      const first = (): boolean => {
        if (winner) return winner === runner;
        if (!running.has(runner)) return false;
        winner = runner;
        for (const timer of runner.timers) clearTimeout(timer);
        const now = performance.now();
        given.won(line, now - runner.since);
        for (const slower of running)
          if (slower !== runner) {
            stop(slower, beaten);
            given.lost(slower.line, now - slower.since);
          }
        return true;
      };
      const fails = (error: Error): void => {
        if (!running.has(runner)) return;
        stop(runner, beaten);
        const verdict = given.failed(line, error, winner === runner);
        failure = error;
        if (winner === runner) {
          finish(() => reject(error));
          return;
        }
        if (!verdict.retriable) hopeless = true;
        if (!verdict.sameChannel) {
          // Its other keys lead to the same place: they come last.
          const here = ({ channelId }: L): boolean => channelId === line.channelId;
          left = [...left.filter((each) => !here(each)), ...left.filter(here)];
        }
        if (running.size === 0 || verdict.sameChannel) next(line, verdict.sameChannel);
      };
      if (hedgeMs !== null && hedgeMs < deadlineMs)
        runner.timers.push(
          setTimeout(() => {
            const another = left.find(({ channelId }) => channelId !== line.channelId);
            if (!another || winner || gone.aborted || running.size > 1) return;
            if (given.mayHedge(another)) next(line, false);
          }, hedgeMs).unref(),
        );
      runner.timers.push(
        setTimeout(() => {
          fails(given.silence());
        }, deadlineMs).unref(),
      );
      given.attempt(line, abort.signal, first).then(
        (answer): undefined => {
          if (!running.has(runner) || !first()) return undefined;
          running.delete(runner);
          finish(() => resolve(answer));
          return undefined;
        },
        (error: unknown) => fails(error as Error),
      );
    };

    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    next(null, false);
  });
};
