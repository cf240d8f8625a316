import { ApiError } from '../api-error.ts';
import { api } from '../api.ts';
import { enqueue, isUnheard } from '../outbox.ts';
import { useSettings } from '../queries.ts';
import { SwitchField } from '../ui/switch-field.tsx';
import { toast } from '../ui/toast.ts';
import { uuid } from '../uuid.ts';
import { useRef, useState } from 'react';
import { MarkdownEditor, type Edited } from './markdown-editor.tsx';

/** Asks people something: a title and Markdown, in a public session of type 2 unless it shall be private. */
export const QuestionEditor = ({
  onClose,
  onAsked,
}: {
  onClose: () => void;
  /** Gets the uuid of the session that was made. */
  onAsked: (uuid: string) => void;
}) => {
  const { private_global } = useSettings();
  const [hidden, setHidden] = useState(false);
  // A second try goes on where the first was cut off: neither session nor message is made twice.
  const keys = useRef({ session: uuid(), message: uuid() });
  const made = useRef('');
  /** Without a network both are written down, and done when there is one. */
  const askLater = async ({ title, content }: Edited, tried: boolean): Promise<false> => {
    const { session, message } = keys.current;
    const now = new Date().toISOString();
    const input = { type: 2, private: hidden ? 1 : 0, uuid: session } as const;
    const asked = { session_id: session, msg: content, title };
    const act = { key: session, lane: session, made: now };
    await enqueue([{ ...act, name: 'newSession', input }], tried);
    await enqueue([{ ...act, name: 'sendMessage', key: message, input: asked }]);
    onAsked(session);
    return false;
  };
  const ask = async ({ title, content }: Edited): Promise<boolean> => {
    const edited = { title, content };
    if (!navigator.onLine && made.current === '') return askLater(edited, false);
    try {
      made.current ||= (
        await api.newSession(
          { type: 2, private: hidden ? 1 : 0, uuid: keys.current.session },
          { idempotencyKey: keys.current.session, quiet: true },
        )
      ).uuid;
    } catch (error) {
      if (isUnheard(error)) return askLater(edited, true);
      if (error instanceof ApiError) toast(error.message, 'error');
      throw error;
    }
    try {
      await api.sendMessage(
        { session_id: made.current, msg: content, title },
        { idempotencyKey: keys.current.message },
      );
    } catch (error) {
      // Refused: what is changed and sent again is another message.
      if (error instanceof ApiError && error.status !== 0) keys.current.message = uuid();
      throw error;
    }
    onAsked(made.current);
    return true;
  };
  return (
    <MarkdownEditor
      heading="发起提问"
      initialTitle=""
      initialText=""
      action="发表"
      success="发表成功"
      draftKey="question"
      onSave={ask}
      onClose={onClose}
    >
      <SwitchField
        label="只给自己看"
        hint={private_global === 0 ? undefined : '关闭时，所有人都能看到这个问题，登录的人可以回答'}
        checked={hidden}
        onChange={setHidden}
      />
    </MarkdownEditor>
  );
};
