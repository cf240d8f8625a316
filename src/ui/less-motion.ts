import { reduceMotion, restoreMotion } from 'antd-mobile/es/utils/reduce-and-restore-motion';

/** Sheets and dialogs move by springs, which know nothing of what a person's system asks for. */
const asked = matchMedia('(prefers-reduced-motion: reduce)');
const obey = () => (asked.matches ? reduceMotion() : restoreMotion());
obey();
asked.addEventListener('change', obey);
