import { api } from '@/shared/api.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { Icon } from '@/shared/ui/icon.tsx';
import { toast } from '@/shared/ui/toast.ts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { StartChoice } from './use-start.ts';

const ScenarioSheet = lazy(() => import('./scenario-sheet.tsx'));
const KnowledgeSheet = lazy(() => import('./knowledge-sheet.tsx'));
const QuestionEditor = lazy(async () => ({
  default: (await import('@/shared/editor/question-editor.tsx')).QuestionEditor,
}));

const suggestions = [
  '你能做什么？',
  '(128 + 36) × 2.5 等于多少？',
  '26.2 英里是多少公里？',
  '怎样接入别的模型？',
];

type SheetName = 'scenario' | 'knowledge' | 'question';

/** A choice that was made, and a tap takes it away. */
const Chosen = ({ kind, name, onClear }: { kind: string; name: string; onClear: () => void }) => (
  <button
    type="button"
    className="chip chip-on"
    aria-label={`不用${kind}“${name}”`}
    onClick={onClear}
  >
    <span className="chip-text">
      {kind}：{name}
    </span>
    <Icon name="close" size={14} />
  </button>
);

/** How a session begins besides its model: a scenario, a knowledge base, unsaved, or asking people. */
export const StartOptions = ({
  choice,
  suggesting,
  busy,
  onChoose,
  onSuggestion,
}: {
  choice: StartChoice;
  /** Things to try are shown. */
  suggesting: boolean;
  busy: boolean;
  onChoose: (change: Partial<StartChoice>) => void;
  onSuggestion: (text: string) => void;
}) => {
  const { token, signedIn } = useAuth();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<ReadonlySet<SheetName>>(new Set());
  const [sheet, setSheet] = useState<SheetName>();
  const scenarios = useQuery({
    queryKey: ['scenarioList'],
    queryFn: ({ signal }) => api.scenarioList({}, { signal, quiet: true }),
    enabled: suggesting,
    staleTime: Infinity,
    meta: { steady: true },
  });
  const open = (name: SheetName) => {
    // Once opened it stays, so that closing can be animated.
    setOpened(new Set([...opened, name]));
    setSheet(name);
  };
  const close = () => setSheet(undefined);
  const ask = () => {
    if (signedIn) open('question');
    else {
      toast('登录之后可以向大家提问');
      void navigate({ to: '/login', search: { back: '/' } });
    }
  };
  const { scenario, knowledge, temporary } = choice;
  const ideas = suggestions.map((idea) => (
    <li key={idea}>
      <button type="button" disabled={busy} onClick={() => onSuggestion(idea)}>
        <Icon name="spark" size={16} />
        <span>{idea}</span>
      </button>
    </li>
  ));
  const offered = scenarios.data?.list.slice(0, 6).map((each) => (
    <li key={each.id}>
      <button
        type="button"
        title={each.desc_}
        onClick={() => onChoose({ scenario: { id: each.id, name: each.name } })}
      >
        <span className="chip-dot" style={{ background: each.color || undefined }} />
        <span>{each.name}</span>
      </button>
    </li>
  ));
  return (
    <>
      <div className="composer-options" role="group" aria-label="怎样开始">
        {scenario ? (
          <Chosen kind="场景" name={scenario.name} onClear={() => onChoose({ scenario: null })} />
        ) : (
          <button type="button" className="chip" onClick={() => open('scenario')}>
            场景
          </button>
        )}
        {knowledge ? (
          <Chosen
            kind="知识库"
            name={knowledge.name}
            onClear={() => onChoose({ knowledge: null })}
          />
        ) : (
          <button type="button" className="chip" onClick={() => open('knowledge')}>
            知识库
          </button>
        )}
        <button
          type="button"
          className="chip"
          aria-pressed={temporary}
          title="服务器不保存内容，关掉页面就没有了"
          onClick={() => onChoose({ temporary: !temporary })}
        >
          临时对话
        </button>
        <button type="button" className="chip" onClick={ask}>
          发起提问
        </button>
      </div>
      {temporary && (
        <p className="composer-note" role="status">
          临时对话：服务器不保存内容，关掉页面就没有了。
        </p>
      )}
      {suggesting && !scenario && (
        <ul className="composer-ideas" aria-label="试试这些">
          {/* A newcomer sees what can be asked; who knows the place, the templates. */}
          {token === '' ? [ideas, offered] : [offered, ideas]}
        </ul>
      )}
      <Suspense fallback={null}>
        {opened.has('scenario') && (
          <ScenarioSheet
            open={sheet === 'scenario'}
            onClose={close}
            onChoose={(chosen) => onChoose({ scenario: chosen })}
          />
        )}
        {opened.has('knowledge') && (
          <KnowledgeSheet
            open={sheet === 'knowledge'}
            onClose={close}
            onChoose={(chosen) => onChoose({ knowledge: chosen })}
          />
        )}
        {sheet === 'question' && (
          <QuestionEditor
            onClose={close}
            onAsked={(uuid) => {
              close();
              void navigate({ to: '/chat', search: { uuid } });
            }}
          />
        )}
      </Suspense>
    </>
  );
};
