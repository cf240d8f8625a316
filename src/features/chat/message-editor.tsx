import { MarkdownEditor, type Edited } from '@/shared/editor/markdown-editor.tsx';

/** Changes one's own message; of a question to people with its title. Loads when first shown. */
export const MessageEditor = ({
  initialTitle,
  initialText,
  draftKey,
  onSave,
  onClose,
}: {
  /** Undefined: the message has no title. */
  initialTitle?: string;
  initialText: string;
  /** Number of the message: what was written and not saved is kept under it. */
  draftKey: string;
  /** Gives whether the server has it already. Rejects with ApiError when it was not saved. */
  onSave: (edited: Edited) => Promise<boolean>;
  onClose: () => void;
}) => (
  <MarkdownEditor
    heading="修改消息"
    initialTitle={initialTitle}
    initialText={initialText}
    action="保存"
    success="修改成功"
    draftKey={draftKey}
    onSave={onSave}
    onClose={onClose}
  />
);
