import { compactNumber } from '#common/compact-number.ts';
import { maskName } from '#src/platform/format.ts';
import { Button } from '#src/ui/button.tsx';
import { Chip, Tag } from '#src/ui/chip.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { StarChoice } from '#src/ui/star-choice.tsx';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { varsOf } from '#src/widgets/template/template-vars.ts';
import { Link } from '@tanstack/react-router';
import type { Scenario } from './scenario.ts';
import css from './scenario.module.css';

/** All of a scenario before one begins: whose it is, how often it was used, what it asks for and says. */
const ScenarioDetail = ({
  scenario,
  category,
  busy,
  onStart,
  onEdit,
  onRated,
  onClose,
}: {
  scenario: Scenario;
  /** The name of its category; empty: it is not known. */
  category: string;
  busy: boolean;
  onStart: () => void;
  /** Undefined: it may not be changed. */
  onEdit: (() => void) | undefined;
  /** Undefined: nobody is signed in, or it is one's own. */
  onRated: ((stars: number) => void) | undefined;
  onClose: () => void;
}) => {
  const asked = varsOf(scenario.prompt).filter((name) => name !== 'input');
  return (
    <Sheet open onClose={onClose} title={scenario.name}>
      <div className={css.detail}>
        <header>
          <span className={css.mark} style={{ background: scenario.color }} aria-hidden="true">
            {Array.from(scenario.name)[0]}
          </span>
          <p>{scenario.desc_ || scenario.name}</p>
        </header>
        <dl>
          <div>
            <dt>用过</dt>
            <dd>{compactNumber(scenario.session_count)} 次会话</dd>
          </div>
          {scenario.rating !== null && (
            <div>
              <dt>评分</dt>
              <dd>
                ★ {scenario.rating.toFixed(1)}（{scenario.rating_count} 人）
              </dd>
            </div>
          )}
          <div>
            <dt>作者</dt>
            <dd>{scenario.user_name === '' ? '官方' : maskName(scenario.user_name)}</dd>
          </div>
          {category !== '' && (
            <div>
              <dt>分类</dt>
              <dd>{category}</dd>
            </div>
          )}
        </dl>
        {asked.length > 0 && (
          <section>
            <h3>开始时要填</h3>
            <p className={css.asked}>
              {asked.map((name) => (
                <Tag key={name}>{name}</Tag>
              ))}
            </p>
          </section>
        )}
        {scenario.sample !== '' && (
          <section>
            <h3>结果示例</h3>
            <div className={css.sample}>
              <Markdown text={scenario.sample} />
            </div>
          </section>
        )}
        <section>
          <h3>提示词</h3>
          <p className={`${css.whole} selectable`}>
            {/* Braces are for those who write it. */}
            {scenario.prompt
              .replaceAll('{{input}}', '〔您写的内容〕')
              .replaceAll(/\{\{\s*([^{}]+?)\s*\}\}/g, '〔$1〕')}
          </p>
        </section>
        <p className={css.acts}>
          {scenario.session_count > 0 && (
            <Link
              className="chip"
              to="/"
              search={{ channel: 'public', scenario_id: scenario.id }}
              onClick={onClose}
            >
              看别人用它聊的
            </Link>
          )}
          {onRated && (
            <StarChoice label="用过以后评分" value={scenario.my_stars} onChange={onRated} />
          )}
          {onEdit && <Chip onClick={onEdit}>修改</Chip>}
        </p>
        <Button kind="primary" busy={busy} onClick={onStart}>
          开始
        </Button>
      </div>
    </Sheet>
  );
};

export default ScenarioDetail;
