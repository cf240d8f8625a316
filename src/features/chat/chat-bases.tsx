import { act, laterText } from '#src/platform/outbox.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import KnowledgeSheet from '#src/widgets/start/knowledge-sheet.tsx';
import type { SessionDetail } from '#contract/session.ts';
import { useState } from 'react';

/** Which knowledge bases the next questions of a conversation are asked about. */
const ChatBases = ({
  session: { uuid, bases = [] },
  open,
  onClose,
}: {
  session: SessionDetail;
  open: boolean;
  onClose: () => void;
}) => {
  const there = bases.map(({ key, name }) => ({ key, name }));
  const [changed, setChanged] = useState<typeof there>();
  const { run } = useAct();
  const chosen = changed ?? there;
  const close = () => {
    onClose();
    const embeddings = chosen.map(({ key }) => key);
    if (embeddings.join('\n') === there.map(({ key }) => key).join('\n')) return;
    void run(async () => {
      const done = await act('setSession', uuid, { session_id: uuid, embeddings });
      const said = embeddings.length > 0 ? '接下来的问题会先查知识库' : '接下来的问题不查知识库';
      toast(done ? said : `${said}，${laterText}`, 'success');
    }).finally(() => setChanged(undefined));
  };
  return <KnowledgeSheet open={open} chosen={chosen} onClose={close} onChoose={setChanged} />;
};

export default ChatBases;
