import { api } from '#src/platform/api.ts';
import { errorText } from '#src/platform/api-error.ts';
import { useCall } from '#src/platform/call-query.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { refreshSite } from '#src/platform/site.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import type { FormValues } from '#src/ui/form/field.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { searches } from '#contract/manage-model.ts';
import { useState } from 'react';
import {
  beginning,
  channelOf,
  chats,
  linesOf,
  modelsIn,
  namesModels,
  offeredAfter,
  serves,
  type ServiceDraft,
  type Trial,
  trialOf,
} from './service-draft.ts';
import { fieldsOf } from './service-fields.ts';
import css from './manage-model.module.css';

/** It would lie behind the button that stays in sight. */
const intoSight = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: 'nearest' });

/** What a trial said. */
const Said = ({ trial }: { trial: Trial }) => (
  <p className={css.trial} ref={intoSight} data-ok={trial.ok || undefined} role="status">
    <Icon name={trial.ok ? 'check' : 'warning'} size={18} />
    <span>
      {trial.message}
      {trial.latency !== null && `（${(trial.latency / 1000).toFixed(1)} 秒）`}
    </span>
  </p>
);

const factorHint =
  '一行一个：模型名，空格，价格（每个 token 扣多少，0 免费）。价格不写就按它的系列。服务里叫别的名字时写：模型名 → 它的名字';

/** The models to offer, as lines, and those that a trial found. */
const Models = ({
  draft,
  lines,
  trial,
  onChange,
}: {
  draft: ServiceDraft;
  lines: string;
  trial: Trial | undefined;
  onChange: (lines: string) => void;
}) => {
  const named = modelsIn(lines);
  const toggle = (name: string, factor: number) =>
    onChange(
      linesOf(
        named.some((each) => each.name === name)
          ? named.filter((each) => each.name !== name)
          : [...named, { name, factor }],
      ),
    );
  return (
    <>
      <label className={css.models}>
        <span>模型</span>
        <textarea
          className="text-input"
          rows={4}
          aria-label="模型，一行一个"
          value={lines}
          placeholder={
            draft.id === undefined ? '不写就用测试时找到的常用模型' : '一行一个：模型名 价格'
          }
          onChange={(event) => onChange(event.target.value)}
        />
        <small className="field-hint">
          {draft.kind === 'embedding' ? '一行一个模型名，第一个是平常用的' : factorHint}
        </small>
      </label>
      {trial && trial.models.length > 0 && (
        <details className={css.found} open={trial.models.length <= 30}>
          <summary>这个服务有 {trial.models.length} 个模型，点一下加上或去掉</summary>
          <div className={css.chips}>
            {trial.models.map(({ name, factor }) => (
              <button
                key={name}
                type="button"
                className="chip"
                aria-pressed={named.some((each) => each.name === name)}
                onClick={() => toggle(name, factor)}
              >
                {name}
              </button>
            ))}
          </div>
        </details>
      )}
    </>
  );
};

/** @param said what the service said when it was tried; empty: it was not */
export type Saved = (said: string) => void;

/** Tries a service, and saves it. */
const useService = (draft: ServiceDraft, { lines, onSaved }: { lines: string; onSaved: Saved }) => {
  const [trial, setTrial] = useState<Trial>();
  const trying = useAct((error) =>
    setTrial({ ok: false, message: errorText(error), latency: null, models: [] }),
  );
  const isNew = draft.id === undefined;
  /** What a person wrote; null: nothing, and what is usual is taken. */
  const named = isNew && modelsIn(lines).length === 0 ? null : modelsIn(lines);
  const test = async (values: FormValues): Promise<Trial | undefined> => {
    setTrial(undefined);
    let made: Trial | undefined;
    await trying.run(async () => {
      made = await api.testChannel(trialOf(draft, values, named), { quiet: true });
      setTrial(made);
    });
    return made;
  };
  const save = async (values: FormValues, learned: Trial | undefined) => {
    const models = learned ? offeredAfter(draft, named, learned) : (named ?? draft.models);
    await api.saveChannel(channelOf(draft, values, { models, learned }), { quiet: true });
    // Models and what this site can are read seldom: who looks now shall have the new ones.
    if (searches(draft.kind)) await refreshSite();
    await queryClient.invalidateQueries({ queryKey: ['models'] });
    if (!isNew) toast('保存成功', 'success');
    // Whoever connects it asks it next.
    const answered = models.find(({ name, upstream = name }) => upstream === learned?.model);
    const first = answered ?? models[0];
    if (isNew && first && chats(draft.kind)) prefsStore.set({ model: first.name });
    onSaved(learned?.message ?? '');
  };
  return { trial, testing: trying.busy, test, save };
};

/**
 * A model service by form. One that is new is tried and connected by one press; of one that is there
 * everything is shown, tried and saved apart.
 */
export const ServiceForm = ({
  draft,
  typedKey = '',
  onKey,
  onSaved,
}: {
  draft: ServiceDraft;
  /** The key that was typed before it was clear whose it is. */
  typedKey?: string;
  onKey?: (key: string) => void;
  onSaved: Saved;
}) => {
  const isNew = draft.id === undefined;
  const [initial] = useState(() => beginning(draft, typedKey));
  const [values, setValues] = useState<FormValues>(initial);
  const [lines, setLines] = useState(isNew ? '' : linesOf(draft.models));
  const { trial, testing, test, save } = useService(draft, { lines, onSaved });
  const saving = useAct((error) => toast(errorText(error), 'error'));
  const groups = useCall('peopleGroups', {}, { enabled: serves(draft.kind) });
  const { main, rest } = fieldsOf(draft, groups.data?.list ?? []);
  const models = namesModels(draft.kind) && (
    <Models draft={draft} lines={lines} trial={trial} onChange={setLines} />
  );
  return (
    <Form
      fields={main}
      initial={initial}
      submit={isNew ? (testing ? '正在试…' : '测试并接入') : '保存'}
      onChange={(next) => {
        setValues(next);
        onKey?.(String(next['api_key'] ?? ''));
      }}
      onSubmit={async (sent) => {
        if (!isNew) return save(sent, trial);
        const made = await test(sent);
        if (made?.ok) await save(sent, made);
      }}
      folded={
        isNew
          ? {
              title: '高级：地址、名称、模型与价格',
              fields: rest,
              children: (
                <>
                  {models}
                  <Button
                    kind="ghost"
                    busy={saving.busy}
                    onClick={() => void saving.run(() => save(values, undefined))}
                  >
                    不测试，直接接入
                  </Button>
                </>
              ),
            }
          : undefined
      }
      footInSight
      renderExtra={() =>
        !isNew && (
          <Button busy={testing} onClick={() => void test(values)}>
            {testing ? '正在试…' : '测试'}
          </Button>
        )
      }
    >
      {draft.key_url !== '' && (
        <p className="field-hint">
          没有密钥？
          <a href={draft.key_url} target="_blank" rel="noreferrer">
            到这里申请
          </a>
        </p>
      )}
      {!isNew && models}
      {trial && <Said trial={trial} />}
    </Form>
  );
};
