/**
 * In whose name calls are made: a query reads the same calls from the network and from what is kept
 * here, and wants to know which of the two answered. A call looks when it begins, so that it must
 * be made before its reader waits for anything.
 */
export interface Run {
  /** Only what is kept is wanted: nothing is asked for. */
  readonly keptOnly: boolean;
  /** Something of it was answered by what is kept. */
  fromKept: boolean;
}

let held: Run | null = null;
export const heldRun = (): Run | null => held;

export const within = <T>(run: Run, make: () => T): T => {
  const before = held;
  held = run;
  try {
    return make();
  } finally {
    held = before;
  }
};
