import { imageOfferOf } from './image-models.ts';
import { mediaOfferOf } from './media-models.ts';
import { isChatModel, isLowCost } from './model-names.ts';

/** Where a service has more, only those that are known to be usual are taken. */
const mostUsual = 20;
/** The ending of a version that stands beside the model itself. */
const dated = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})$/;

/** One talks with it, and it neither draws, films nor speaks. */
export const isTalkModel = (name: string): boolean =>
  isChatModel(name) && !imageOfferOf(name) && !mediaOfferOf(name);

/**
 * Which of a service's models are offered where nobody says otherwise, the one to try first: those
 * that were wanted before it was asked and that it has, and all to talk with where they are few.
 */
export const usualModels = (names: readonly string[], wanted: readonly string[]): string[] => {
  const listed = new Set(names);
  const known = wanted.filter((name) => listed.has(name));
  // Whoever wants to hear or to film does not want the rest.
  if (wanted.length > 0 && !wanted.some(isTalkModel)) return known;
  const talks = names.filter(
    (name) => isTalkModel(name) && !(dated.test(name) && listed.has(name.replace(dated, ''))),
  );
  if (talks.length > mostUsual && known.length > 0) return known;
  const rest = talks.filter((name) => !known.includes(name));
  const sorted = [...rest.filter(isLowCost), ...rest.filter((name) => !isLowCost(name))];
  return [...known, ...sorted].slice(0, mostUsual);
};
