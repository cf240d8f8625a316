type Job = () => void;

const jobs: Job[] = [];
let waiting = false;

const whenIdle = (run: (deadline: number) => void) => {
  if (typeof requestIdleCallback === 'function')
    requestIdleCallback((idle) => run(performance.now() + idle.timeRemaining()), {
      timeout: 1_500,
    });
  else setTimeout(() => run(performance.now() + 8), 60);
};

const work = (deadline: number) => {
  waiting = false;
  do {
    jobs.shift()?.();
  } while (jobs.length > 0 && performance.now() < deadline - 4);
  if (jobs.length > 0) ask();
};

const ask = () => {
  if (waiting) return;
  waiting = true;
  whenIdle(work);
};

/** Runs what only makes things prettier when the page has nothing better to do; gives its cancel. */
export const inIdleTime = (job: Job): (() => void) => {
  jobs.push(job);
  ask();
  return () => {
    const at = jobs.indexOf(job);
    if (at >= 0) jobs.splice(at, 1);
  };
};
