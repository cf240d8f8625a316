import { api } from '@/shared/api.ts';
import { ApiError } from '@/shared/api-error.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { useDraft } from '@/shared/draft.ts';
import { useChatModels } from '@/shared/queries.ts';
import { Button } from '@/shared/ui/button.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { SwitchField } from '@/shared/ui/switch-field.tsx';
import { toast } from '@/shared/ui/toast.ts';
import { uuid } from '@/shared/uuid.ts';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import './start-sheets.css';
import { useRefusal } from './use-refusal.ts';

/** A question to people: title and text, open to all unless asked private, with a model asked as well. */
const QuestionSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => {
  const { signedIn } = useAuth();
  const navigate = useNavigate();
  const refuse = useRefusal();
  const models = useChatModels();
  const [title, setTitle] = useDraft('question.title');
  const [text, setText] = useDraft('question.text');
  const [own, setOwn] = useState(false);
  const [model, setModel] = useState('');
  const [busy, setBusy] = useState(false);
  // A try that got no answer may have reached the server: the next one carries the same keys.
  const keys = useRef({ session: uuid(), message: uuid() });

  const ask = async () => {
    if (title.trim() === '') return toast('请写一个标题', 'error');
    if (text.trim() === '') return toast('请写下问题的内容', 'error');
    setBusy(true);
    try {
      const session = await api.newSession(
        { type: 2, private: own ? 1 : 0 },
        { quiet: true, idempotencyKey: keys.current.session },
      );
      await api.sendMessage(
        {
          session_id: session.uuid,
          msg: text.trim(),
          title: title.trim(),
          ai: model || undefined,
        },
        { quiet: true, idempotencyKey: keys.current.message },
      );
      keys.current = { session: uuid(), message: uuid() };
      setTitle('');
      setText('');
      onClose();
      await navigate({ to: '/chat', search: { uuid: session.uuid } });
    } catch (error) {
      if (error instanceof ApiError && error.status !== 0)
        keys.current = { session: uuid(), message: uuid() };
      refuse(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Sheet open={open} onClose={onClose} title="发起提问">
      {signedIn ? (
        <form
          className="start-sheet"
          onSubmit={(event) => {
            event.preventDefault();
            void ask();
          }}
        >
          <p className="start-note">问题会出现在公共频道，大家都可以回答，也可以请一个模型来答。</p>
          <input
            className="text-input"
            value={title}
            maxLength={100}
            placeholder="标题：一句话说清要问什么"
            aria-label="标题"
            onChange={(event) => setTitle(event.target.value)}
          />
          <textarea
            className="text-input question-text"
            value={text}
            rows={6}
            placeholder="内容：可以用 Markdown"
            aria-label="内容"
            onChange={(event) => setText(event.target.value)}
          />
          <label className="start-field">
            <span>请模型回答</span>
            <select
              className="text-input"
              value={model}
              onChange={(event) => setModel(event.target.value)}
            >
              <option value="">不用，等大家来答</option>
              {models.data?.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.label}
                </option>
              ))}
            </select>
          </label>
          <SwitchField label="只给自己看" hint="不出现在公共频道" checked={own} onChange={setOwn} />
          <Button kind="primary" type="submit" busy={busy}>
            {busy ? '正在发布…' : '发布问题'}
          </Button>
        </form>
      ) : (
        <div className="start-sheet">
          <p className="start-note">登录之后可以向大家提问，也能回答别人的问题。</p>
          <Link className="button button-primary" to="/login" onClick={onClose}>
            去登录
          </Link>
        </div>
      )}
    </Sheet>
  );
};

export default QuestionSheet;
