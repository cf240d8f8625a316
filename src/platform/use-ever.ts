import { useState } from 'react';

/** Whether it was ever true: what was opened once stays, so that one sees it close. */
export const useEver = (now: boolean): boolean => {
  const [ever, setEver] = useState(now);
  if (now && !ever) setEver(true);
  return ever || now;
};
