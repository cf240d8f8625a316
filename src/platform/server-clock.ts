import { readStored } from './stored.ts';

/** How far the device's clock is behind the server's, ms. */
const key = 'queqiao.clock';
/** The server tells whole seconds, after some time on the way: a clock this near is right, ms. */
const near = 30_000;

let behind = Number(readStored(key)) || 0;

/** Takes the time from an answer that has just come. @param date its `date` header */
export const noteServerTime = (date: string | null): void => {
  const difference = Date.parse(date ?? '') - Date.now();
  if (Number.isNaN(difference)) return;
  const next = Math.abs(difference) < near ? 0 : difference;
  if (Math.abs(next - behind) < near) return;
  behind = next;
  try {
    localStorage.setItem(key, String(behind));
  } catch {
    // It is told anew by the first answer.
  }
};

/** Now as the server has it, as far as that is known, ms since 1970. For words about times alone. */
export const serverNow = (): number => Date.now() + behind;
