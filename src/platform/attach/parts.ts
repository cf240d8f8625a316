import type { Part } from '#common/outbox/act.ts';
import { uuid } from '#src/platform/uuid.ts';
import { blank } from './blank.ts';
import type { Attachment } from './attach-store.ts';

/** What of a draft still has to be uploaded, as the outbox takes it. */
export const partsOf = (items: readonly Attachment[]): Part[] =>
  items
    .filter((item) => item.state !== 'ready' && item.kept)
    .map(({ id, kind, name, size }) => ({ id, kind, name, size, key: uuid(), url: '', uuid: '' }));

/** What the outbox gives back, as a draft has it. */
export const draftOfParts = (parts: readonly Part[]): Attachment[] =>
  parts.map(({ id, kind, name, size, url, uuid: number }) => ({
    ...blank,
    id,
    kind,
    name,
    size,
    url,
    uuid: number,
    kept: true,
    state: url === '' && number === '' ? 'waiting' : 'ready',
  }));
