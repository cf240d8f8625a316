import { createContext } from 'react';

/** Follows a link to another of our pages without loading the app again. */
export const Navigate = createContext<((href: string) => void) | null>(null);
