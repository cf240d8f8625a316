export interface PromptSheetProps {
  open: boolean;
  /** 0: of chats; 1: of images. */
  type: 0 | 1;
  /** Name of the model that they are for: some are offered with some models alone. */
  model: string;
  /** A server of tools whose prompts are unfolded at once. */
  server?: number | undefined;
  onClose: () => void;
  /** Gets the text with its variables filled in. */
  onChoose: (text: string) => void;
}
