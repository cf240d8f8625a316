import { createContext } from 'react';

/** Follows a link to another of our pages without loading the app again. */
export const Navigate = createContext<((href: string) => void) | null>(null);

/** Whether the text is the house's own: its links lead to any of our pages. */
export const ByManagers = createContext(false);
