/** Sentences of a numbered source that answer; `n` 0: sources have no numbers here. */
export interface Quote {
  n: number;
  title: string;
  text: string;
}

/** A piece of a message that is more than plain text. */
export type ContentPart =
  | { type: 'text'; text: string }
  /** A file that a person attached: its name and what it says; cut: the rest was left out. */
  | { type: 'file'; name: string; text: string; cut: boolean }
  /** What knowledge bases have on a question: as models are told it, and to quote from. */
  | { type: 'knowledge'; text: string; bases: string[]; quotes: Quote[] }
  /** An image, as a data URL; until it is sent to an engine also an address of the web. */
  | { type: 'image_url'; image_url: { url: string; detail: 'low' | 'high' } };

/** A call of a tool as a model asked for it. */
export interface AskedCall {
  /** As the model's service named it. */
  id: string;
  name: string;
  /** JSON, as it was written. */
  arguments: string;
  /** What its service signed it with; it goes back with the call as it came. */
  signed?: Record<string, unknown>;
}

export interface ChatMessage {
  /** `tool`: what a call of a tool gave. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | ContentPart[];
  /** Of an assistant's message within a loop: what it called. */
  calls?: AskedCall[];
  /** Of the same: what it thought before it called; some services want it back. */
  thought?: string;
  /** The same as its service signed it, for those that take it back in no other form. */
  signed?: Record<string, unknown>[];
  /** Of a tool's message: the call that it answers. */
  callId?: string;
}

/** An attached file as models are given it. */
const fileText = ({ name, text, cut }: ContentPart & { type: 'file' }): string =>
  `附件《${name}》的内容${cut ? '（后面的部分已省略）' : ''}：\n\n${text}`;

/** Everything in a message's content that is text, as models are given it. */
export const textOf = (content: ChatMessage['content']): string =>
  typeof content === 'string'
    ? content
    : content
        .flatMap((part) =>
          part.type === 'text' || part.type === 'knowledge'
            ? part.text
            : part.type === 'file'
              ? fileText(part)
              : [],
        )
        .join('\n\n');

/** The images in a message's content. */
export const imagesOf = (
  content: ChatMessage['content'],
): (ContentPart & { type: 'image_url' })[] =>
  typeof content === 'string' ? [] : content.filter((part) => part.type === 'image_url');
