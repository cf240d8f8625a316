import { GroupField } from '#src/widgets/editor/group-field.tsx';
import { useDraft, writeDraft } from '#src/platform/draft.ts';
import type { Edited } from '#src/widgets/editor/editor-props.ts';
import { MarkdownEditor } from '#src/widgets/editor/markdown-editor.tsx';

/** Changes one's own message; of a question to people with its title. Loads when first shown. */
export const MessageEditor = ({
  initialTitle,
  initialText,
  draftKey,
  group: before,
  onSave,
  onClose,
}: {
  /** Undefined: the message has no title. */
  initialTitle?: string;
  initialText: string;
  /** Number of the message: what was written and not saved is kept under it. */
  draftKey: string;
  /** Of a question: the group of the forum that it is in. */
  group?: number | undefined;
  /**
   * Gives whether the server has it already. Rejects with ApiError when it was not saved. `group`:
   * where it is moved to.
   */
  onSave: (edited: Edited, group?: number) => Promise<boolean>;
  onClose: () => void;
}) => {
  const groupDraft = `edit-group:${draftKey}`;
  const [drafted, draft] = useDraft(groupDraft);
  const group = drafted === '' ? before : Number(drafted);
  return (
    <MarkdownEditor
      heading="修改消息"
      initialTitle={initialTitle}
      initialText={initialText}
      action="保存"
      success="修改成功"
      draftKey={draftKey}
      onSave={(edited) => onSave(edited, group === before ? undefined : group)}
      onClose={() => {
        writeDraft(groupDraft, '');
        onClose();
      }}
    >
      {group !== undefined && (
        <GroupField value={group} onChange={(id) => draft(id === before ? '' : String(id))} />
      )}
    </MarkdownEditor>
  );
};
