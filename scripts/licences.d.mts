export interface InstalledPackage {
  /** As the lock file names it, such as node_modules/a/node_modules/b. */
  path: string;
  name: string;
  version: string;
  /** An SPDX expression; empty: nobody knows. */
  license: string;
  /** boot, page, page-worker, service-worker, server. */
  bundledIn: string[];
  /** Null: it is for another platform, or was left out. */
  folder: string | null;
}

export const noticesFile: string;
export const readPackages: () => InstalledPackage[];
export const isPermissive: (expression: string) => boolean;
export const strayPackages: (packages: readonly InstalledPackage[]) => InstalledPackage[];
export const noteBundled: (place: string, files: Iterable<string>) => void;
export const noticesOf: (packages: readonly InstalledPackage[]) => string;
export const writeNotices: () => void;
