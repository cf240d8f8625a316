import type { ComponentType, ReactNode } from 'react';

export interface Edited {
  /** Trimmed; undefined where there is no title. */
  title?: string;
  /** Markdown, trimmed, never empty. */
  content: string;
}

export interface EditorProps {
  heading: string;
  /** Undefined: a text without a title. */
  initialTitle?: string | undefined;
  initialText: string;
  /** What the button says. */
  action: string;
  /** Said when it has been saved. */
  success: string;
  /** Names what is written, for keeping it until it is saved. */
  draftKey: string;
  /** What stands below the title while it is written. */
  BelowTitle?: ComponentType<{ title: string }>;
  /** More choices, below the text. */
  children?: ReactNode;
  /**
   * Gives whether the server has it; false: it is written down, and sent when there is a network.
   * Rejects with ApiError when it was not saved: the editor stays open with everything in it.
   */
  onSave: (edited: Edited) => Promise<boolean>;
  /** Closed, saved or not. */
  onClose: () => void;
}
