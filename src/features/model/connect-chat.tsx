import { Chip } from '#src/ui/chip.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { useState } from 'react';
import { presetOfKey } from './key-shapes.ts';
import css from './manage-model.module.css';
import { draftOf, type Preset } from './service-draft.ts';
import { unknownKey } from './service-fields.ts';
import { type Saved, ServiceForm } from './service-form.tsx';

/** In sight before the rest is asked for. */
const mostShown = 8;

/** The form under the key became another one: who types goes on at its end. */
const goOn = (place: HTMLElement | null): void => {
  const box = place?.querySelector<HTMLTextAreaElement>(
    '[data-field="api_key"] textarea:not([aria-hidden])',
  );
  box?.focus();
  box?.setSelectionRange(box.value.length, box.value.length);
};

/**
 * A service to chat with: whose it is, its key, and a press. A key that tells whose it is chooses by
 * itself, until a person does.
 */
export const ConnectChat = ({
  presets,
  onSaved,
}: {
  presets: readonly Preset[];
  onSaved: Saved;
}) => {
  const [chosen, setChosen] = useState<string>();
  const [told, setTold] = useState<string>();
  const [typed, setTyped] = useState('');
  const [all, setAll] = useState(false);
  const preset = presets.find(({ key }) => key === (chosen ?? told));
  const shown = presets.filter((each, at) => all || at < mostShown || each === preset);
  const type = (key: string) => {
    setTyped(key);
    setTold(presetOfKey(key) ?? told);
  };
  return (
    <>
      <div className={css.makers}>
        <div className={css.makersOnly} role="radiogroup" aria-label="哪一家的密钥">
          {shown.map(({ key, label }) => (
            <Chip
              key={key}
              role="radio"
              aria-checked={key === preset?.key}
              onClick={() => setChosen(key)}
            >
              {label}
            </Chip>
          ))}
        </div>
        {!all && <Chip onClick={() => setAll(true)}>更多…</Chip>}
      </div>
      {preset ? (
        <div key={preset.key} ref={chosen === undefined ? goOn : undefined}>
          <ServiceForm draft={draftOf(preset)} typedKey={typed} onKey={type} onSaved={onSaved} />
        </div>
      ) : (
        <Form
          fields={[unknownKey]}
          initial={{ api_key: typed }}
          submit="测试并接入"
          onChange={({ api_key: key }) => type(String(key ?? ''))}
          onSubmit={() => Promise.resolve()}
        />
      )}
    </>
  );
};
