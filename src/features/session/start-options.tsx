import { Chip } from '#src/ui/chip.tsx';
import { steady, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { Icon } from '#src/ui/icon.tsx';
import type { StartChoice } from './use-start.ts';
import css from './home.module.css';

const suggestions = [
  '你能做什么？',
  '(128 + 36) × 2.5 等于多少？',
  '26.2 英里是多少公里？',
  '怎样接入别的模型？',
];

/** A choice that was made, and a tap takes it away. */
const Chosen = ({ kind, name, onClear }: { kind: string; name?: string; onClear: () => void }) => (
  <Chip
    on
    aria-label={name === undefined ? `不用${kind}` : `不用${kind}“${name}”`}
    onClick={onClear}
  >
    <span className="chip-text">{name === undefined ? kind : `${kind}：${name}`}</span>
    <Icon name="close" size={14} />
  </Chip>
);

/** What was chosen behind the ＋, each with a way to take it away, and things to try. */
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
  const { token } = useAuth();
  const scenarios = useCall('scenarioList', {}, { ...steady, enabled: suggesting });
  const { scenario, knowledge, temporary } = choice;
  const ideas = suggestions.map((idea) => (
    <li key={idea}>
      <button type="button" disabled={busy} onClick={() => onSuggestion(idea)}>
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
        <span>{each.name}</span>
      </button>
    </li>
  ));
  return (
    <>
      {(scenario !== null || knowledge.length > 0 || temporary) && (
        <div className={css.composerOptions} role="group" aria-label="选好的">
          {scenario && (
            <Chosen kind="场景" name={scenario.name} onClear={() => onChoose({ scenario: null })} />
          )}
          {knowledge.map(({ key, name }) => (
            <Chosen
              key={key}
              kind="知识库"
              name={name}
              onClear={() => onChoose({ knowledge: knowledge.filter((each) => each.key !== key) })}
            />
          ))}
          {temporary && <Chosen kind="临时对话" onClear={() => onChoose({ temporary: false })} />}
        </div>
      )}
      {temporary && (
        <p className={css.composerNote} role="status">
          临时对话：服务器不保存内容，关掉页面就没有了。
        </p>
      )}
      {suggesting && !scenario && (
        <ul className={css.composerIdeas} aria-label="试试这些">
          {/* A newcomer sees what can be asked; who knows the place, the templates. */}
          {token === '' ? [ideas, offered] : [offered, ideas]}
        </ul>
      )}
    </>
  );
};
