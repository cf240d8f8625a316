import type { Attachment } from './attach-store.ts';

/** An attachment of which nothing is known but what it is called. */
export const blank: Omit<Attachment, 'id' | 'kind' | 'name'> = {
  size: 0,
  state: 'preparing',
  progress: 0,
  error: '',
  notice: '',
  preview: '',
  url: '',
  uuid: '',
  chars: 0,
  cut: false,
};
