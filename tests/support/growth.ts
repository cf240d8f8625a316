interface Usage {
  /** Microseconds. */
  user: number;
  system: number;
}
// The page's tests, too, use this, whose types know nothing of Node.
const { process } = globalThis as unknown as {
  process: { cpuUsage: (since?: Usage) => Usage };
};

/** What `act` takes of the processor, ms: other work of the machine does not count. */
const effort = (act: () => unknown): number => {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** Less than this tells nothing, ms. */
const noise = 40;
/** More than a growth with the size, and less than one with its square. */
export const steep = 10;

/**
 * How much more of the processor `act` takes when there is four times as much to do: some 4 where
 * the work grows with the size, some 16 where it grows with its square. What is steep is measured
 * again: the collector of garbage comes when it likes.
 * @param size of the larger of both
 */
export const growth = (act: (size: number) => unknown, size: number): number => {
  const small = Math.round(size / 4);
  // The first time is also the compiler's.
  act(small);
  let least = Infinity;
  for (let tries = 0; tries < 3 && least >= steep; tries += 1) {
    const little = effort(() => act(small));
    least = Math.min(least, effort(() => act(size)) / Math.max(little, noise));
  }
  return least;
};

/** A piece of work that is the same everywhere. */
const pace = (): number => {
  let sum = 0;
  for (let at = 0; at < 4_000_000; at += 1) sum = (sum + at * at) % 1_000_003;
  return sum;
};
let paceEffort: number | undefined;

/** What `act` takes of the processor, in pieces of some 100 ms of a usual one. */
export const pieces = (act: () => unknown): number => {
  paceEffort ??= effort(pace);
  return effort(act) / paceEffort;
};
