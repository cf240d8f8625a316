import { groups } from '../src/app/menu-places.ts';
import { type PlaceIcon, placeIcons } from '../src/ui/place-icons.ts';
import type { Place } from '../src/app/places.ts';

const addressOf = ({ link }: Place): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(link.search ?? {})) search.set(name, String(value));
  return search.size === 0 ? String(link.to) : `${link.to}?${search}`;
};

const entry = (label: string, icon: PlaceIcon, address: string): string =>
  `<a class="menu-link" href="${address.replaceAll('&', '&amp;')}">` +
  `<svg class="icon" width="20" height="20" viewBox="0 0 24 24" aria-hidden="true"><path d="${placeIcons[icon]}"/></svg>` +
  `<span>${label}</span></a>`;

/**
 * The side menu of the first HTML, as src/app/shell-menu.tsx draws it a moment later.
 * @param open label of the entry whose places are shown; empty: none
 */
export const firstMenu = (open: string): string =>
  groups
    .map(({ label, icon, places }) => {
      const head = entry(label, icon, addressOf(places[0]));
      if (label !== open) return head;
      const rows = places.map(
        (place) => `<li>${entry(place.label, place.icon, addressOf(place))}</li>`,
      );
      return `${head}<ul class="menu-places">${rows.join('')}</ul>`;
    })
    .join('');
