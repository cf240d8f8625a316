/** A terminal and npm may both pass one Ctrl+C on: within this time it counts as one, ms. */
const sameSignal = 1_000;

/** Resolves when the process is asked to stop; asked again, it ends where it stands. */
export const untilAsked = (): Promise<void> =>
  new Promise((resolve) => {
    let first = 0;
    const ask = () => {
      if (first > 0 && Date.now() - first > sameSignal) process.exit(1);
      first ||= Date.now();
      resolve();
    };
    process.on('SIGTERM', ask);
    process.on('SIGINT', ask);
  });
