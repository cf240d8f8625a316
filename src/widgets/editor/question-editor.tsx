import { sessionTypes } from '#contract/kinds.ts';
import { limits } from '#contract/limits.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useDraft, writeDraft } from '#src/platform/draft.ts';
import { perform } from '#src/platform/outbox.ts';
import { useSettings } from '#src/platform/queries.ts';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import { uuid } from '#src/platform/uuid.ts';
import { useRef } from 'react';
import { useForumGroups } from './groups.ts';
import { GroupField } from './group-field.tsx';
import type { Edited } from './editor-props.ts';
import { MarkdownEditor } from './markdown-editor.tsx';
import { SimilarQuestions } from './similar-questions.tsx';

/** What is written, as its draft is named. */
const box = 'question';
const groupDraft = 'edit:question:group';
/** Written for oneself alone, it is not shown to all because a browser crashed. */
const hiddenDraft = 'edit:question:hidden';

/** The chosen group is kept with what is written. */
const useDraftedGroup = (first: number | undefined): [number, (id: number) => void] => {
  const [text, setText] = useDraft(groupDraft);
  const groups = useForumGroups().data;
  const drafted = Number(text) || (first ?? limits.defaultGroup);
  // One that was deleted meanwhile is as if none were chosen.
  const known = groups === undefined || groups.some(({ id }) => id === drafted);
  return [known ? drafted : limits.defaultGroup, (id) => setText(String(id))];
};

/** Asks people something: a title and Markdown, in a public session of type 2 unless it shall be private. */
export const QuestionEditor = ({
  groupId,
  onClose,
  onAsked,
}: {
  /** The group that is chosen at first. */
  groupId?: number | undefined;
  onClose: () => void;
  /** Gets the uuid of the session that was made. */
  onAsked: (uuid: string) => void;
}) => {
  const { private_global } = useSettings();
  const refuse = useRefusal();
  const [hiddenText, setHiddenText] = useDraft(hiddenDraft);
  const hidden = hiddenText === '1';
  const [group, setGroup] = useDraftedGroup(groupId);
  // A second try goes on where the first was cut off: neither session nor message is made twice.
  const keys = useRef({ session: uuid(), message: uuid() });
  const made = useRef(false);
  const ask = async ({ title, content }: Edited): Promise<boolean> => {
    const { session, message } = keys.current;
    const act = { lane: session, made: new Date().toISOString() };
    try {
      if (!made.current) {
        const input = {
          type: sessionTypes.people,
          private: hidden ? 1 : 0,
          uuid: session,
          group_id: group,
        } as const;
        await perform<'newSession'>({ ...act, name: 'newSession', key: session, input });
        made.current = true;
      }
      const input = { session_id: session, msg: content, title };
      const asked = { ...act, name: 'sendMessage', key: message, input } as const;
      // The words leave the editor with it.
      const sent = await perform<'sendMessage'>(asked, false, box);
      onAsked(session);
      return sent !== null;
    } catch (error) {
      refuse(error);
      // Refused: what is changed and sent again is another message.
      if (error instanceof ApiError && error.status !== 0) keys.current.message = uuid();
      throw error;
    }
  };
  return (
    <MarkdownEditor
      heading="发起提问"
      initialTitle=""
      initialText=""
      action="发表"
      success="发表成功"
      draftKey={box}
      BelowTitle={SimilarQuestions}
      onSave={ask}
      onClose={() => {
        for (const key of [groupDraft, hiddenDraft]) writeDraft(key, '');
        onClose();
      }}
    >
      <GroupField value={group} onChange={setGroup} />
      <SwitchField
        label="只给自己看"
        hint={private_global === 0 ? undefined : '关闭时，所有人都能看到这个问题，登录的人可以回答'}
        checked={hidden}
        onChange={(on) => setHiddenText(on ? '1' : '')}
      />
    </MarkdownEditor>
  );
};
