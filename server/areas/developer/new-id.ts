import { randomUUID } from 'node:crypto';

/** A number of its own for what is told to programs, such as `file-1f0c…`. */
export const newId = (kind: string, mark: '-' | '_' = '-'): string =>
  `${kind}${mark}${randomUUID().replaceAll('-', '')}`;
