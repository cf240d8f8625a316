import { accountOf } from './account-of.ts';
import { readStored } from './stored.ts';

/** The picture of a screen that src/app/screen-picture.ts takes and src/app/boot.ts shows. */
export interface FirstPicture {
  account: string;
  address: string;
  /** Style sheets that it needs. */
  styles: string[];
  html: string;
}

export type PicturePlace = 'home' | 'chat';
const keyOf = (place: PicturePlace): string => `queqiao.picture.${place}`;

/** Which picture an address has, and of what; null: none. */
export const pictureAt = ({
  pathname,
  search,
}: Pick<Location, 'pathname' | 'search'>): [PicturePlace, string] | null => {
  if (pathname === '/' && (search === '' || search === '?channel=private')) return ['home', ''];
  const uuid = /^\?uuid=([\w-]{36})$/.exec(search)?.[1];
  return pathname === '/chat' && uuid !== undefined ? ['chat', uuid] : null;
};

/** Of this person and address; null: there is none. */
export const readPicture = (
  at: Pick<Location, 'pathname' | 'search'>,
  token: string,
): FirstPicture | null => {
  const found = pictureAt(at);
  if (!found) return null;
  try {
    const picture = JSON.parse(readStored(keyOf(found[0])) || 'null') as FirstPicture | null;
    return picture?.account === accountOf(token) && picture.address === found[1] ? picture : null;
  } catch {
    return null;
  }
};

/** Nothing that a person read stays in sight. */
export const forgetPictures = (): void => {
  try {
    for (const place of ['home', 'chat'] as const) localStorage.removeItem(keyOf(place));
  } catch {
    // Forbidden storage holds nothing.
  }
};

export const keepPicture = (place: PicturePlace, picture: FirstPicture): void => {
  try {
    if (picture.html === '') localStorage.removeItem(keyOf(place));
    else localStorage.setItem(keyOf(place), JSON.stringify(picture));
  } catch {
    // Full or forbidden: the next start shows empty boxes.
    forgetPictures();
  }
};
