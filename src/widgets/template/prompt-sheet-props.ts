export interface PromptSheetProps {
  open: boolean;
  /** 0: of chats; 1: of images. */
  type: 0 | 1;
  /** Name of the model that they are for: some are offered with some models alone. */
  model: string;
  /** It was opened from a text that is being written: what follows looks for a template. */
  typing?: boolean;
  /** Gets what was looked for and not chosen. */
  onClose: (sought: string) => void;
  /** Gets the text with its variables filled in. */
  onChoose: (text: string) => void;
}
