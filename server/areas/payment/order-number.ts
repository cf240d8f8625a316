import { randomInt } from 'node:crypto';
import { chinaDay } from '#common/china-time.ts';

const numbered = (prefix: string): string =>
  prefix +
  chinaDay(new Date()).replaceAll('-', '') +
  String(randomInt(1e6)).padStart(6, '0') +
  String(randomInt(1e6)).padStart(6, '0');

/** `Q`, the date and twelve digits. */
export const orderNumber = (): string => numbered('Q');
/** Of what the system or a manager books. */
export const systemNumber = (): string => numbered('SYS');
export const refundNumber = (): string => numbered('R');
