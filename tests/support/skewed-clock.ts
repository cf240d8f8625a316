/** NODE_OPTIONS of a process whose clock is so many seconds ahead; negative: behind. */
export const clockAhead = (seconds: number): string => {
  const shift = `
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) {
        if (given.length === 0) super(Real.now() + ${seconds * 1000});
        else super(...given);
      }
      static now() {
        return Real.now() + ${seconds * 1000};
      }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(shift)}`;
};
