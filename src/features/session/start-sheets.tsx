import { useAuth } from '#src/platform/auth-store.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { toast } from '#src/platform/toast.ts';
import { Act } from '#src/ui/act.tsx';
import { placeIcons } from '#src/ui/place-icons.ts';
import { useNavigate } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import type { StartChoice } from './use-start.ts';

const ScenarioSheet = lazyAsked(() => import('./scenario-sheet.tsx'));
const KnowledgeSheet = lazyAsked(() => import('#src/widgets/start/knowledge-sheet.tsx'));
const QuestionEditor = lazyAsked(async () => ({
  default: (await import('#src/widgets/editor/question-editor.tsx')).QuestionEditor,
}));

export type StartSheet = 'scenario' | 'knowledge' | 'question';

/** How a session begins besides its words and model: in the sheet behind the ＋ of home. */
export const StartActs = ({
  temporary,
  onOpen,
  onTemporary,
}: {
  temporary: boolean;
  onOpen: (sheet: StartSheet) => void;
  onTemporary: () => void;
}) => {
  const { signedIn } = useAuth();
  const navigate = useNavigate();
  const ask = () => {
    if (signedIn) onOpen('question');
    else {
      toast('登录之后可以向大家提问');
      void navigate({ to: '/login', search: { back: '/' } });
    }
  };
  return (
    <div role="group" aria-label="怎样开始">
      <Act icon={{ path: placeIcons.cards }} label="场景" onClick={() => onOpen('scenario')} />
      <Act icon={{ path: placeIcons.book }} label="知识库" onClick={() => onOpen('knowledge')} />
      <Act
        icon="lock"
        label={temporary ? '不用临时对话' : '临时对话'}
        note="不保存，关掉就没有了"
        onClick={onTemporary}
      />
      <Act icon="help" label="发起提问" note="请大家回答" onClick={ask} />
    </div>
  );
};

/** What one of those opens. */
const StartSheets = ({
  sheet,
  chosenBases,
  onChoose,
  onClose,
}: {
  sheet: StartSheet | undefined;
  chosenBases: StartChoice['knowledge'];
  onChoose: (change: Partial<StartChoice>) => void;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  // Once opened they stay, so that closing can be animated.
  const scenario = useEver(sheet === 'scenario');
  const knowledge = useEver(sheet === 'knowledge');
  return (
    <>
      {scenario && (
        <ScenarioSheet
          open={sheet === 'scenario'}
          onClose={onClose}
          onChoose={(chosen) => onChoose({ scenario: chosen })}
        />
      )}
      {knowledge && (
        <KnowledgeSheet
          open={sheet === 'knowledge'}
          chosen={chosenBases}
          onClose={onClose}
          onChoose={(chosen) => onChoose({ knowledge: chosen })}
        />
      )}
      {sheet === 'question' && (
        <QuestionEditor
          onClose={onClose}
          onAsked={(uuid) => {
            onClose();
            void navigate({ to: '/chat', search: { uuid } });
          }}
        />
      )}
    </>
  );
};

export default StartSheets;
