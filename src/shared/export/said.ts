import type { Message, StructuredMessage } from '@contract/chat.ts';

export interface Said {
  text: string;
  /** Addresses. */
  images: readonly string[];
  /** Names of attached files. */
  files: readonly string[];
}

/** What a message says, plain or structured. */
export const saidIn = (message: Pick<Message, 'human' | 'format'>): Said => {
  if (message.format !== 1) return { text: message.human, images: [], files: [] };
  try {
    const { prompt, images, files } = JSON.parse(message.human) as Partial<StructuredMessage>;
    return {
      text: prompt ?? '',
      images: images ?? [],
      files: (files ?? []).map((file) => file.name),
    };
  } catch {
    return { text: message.human, images: [], files: [] };
  }
};
