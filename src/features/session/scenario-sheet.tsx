import { Chip } from '#src/ui/chip.tsx';
import { keepLast, steady, useCall } from '#src/platform/call-query.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { FilterField } from '#src/ui/filter-field.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { varsOf } from '#src/widgets/template/template-vars.ts';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { StartList } from '#src/widgets/start/start-list.tsx';
import css from '#src/widgets/start/start-sheets.module.css';

/** Templates for questions, by category and by words; one is chosen for the next session. */
const ScenarioSheet = ({
  open,
  onClose,
  onChoose,
}: {
  open: boolean;
  onClose: () => void;
  onChoose: (scenario: { id: number; name: string }) => void;
}) => {
  const navigate = useNavigate();
  const [words, setWords] = useState('');
  const [category, setCategory] = useState('');
  const query = useDeferredValue(words.trim()) || undefined;
  const categories = useCall('scenarioCategory', {}, steady);
  const filters = { query, category: category || undefined };
  const list = useCall('scenarioList', filters, { ...steady, ...keepLast });
  return (
    <Sheet popover="panel" open={open} onClose={onClose} title="选择场景">
      <div className={css.startSheet}>
        <FilterField label="查找场景" value={words} onChange={setWords} />
        <div className={css.startKinds} role="radiogroup" aria-label="分类">
          {[{ id: 0, name: '全部' }, ...(categories.data?.list ?? [])].map(({ id, name }) => {
            const value = id === 0 ? '' : String(id);
            return (
              <Chip
                key={id}
                role="radio"
                aria-checked={value === category}
                onClick={() => setCategory(value)}
              >
                {name}
              </Chip>
            );
          })}
        </div>
        <StartList
          query={list}
          items={({ list }) =>
            list.map(({ id, name, desc_, color }) => ({ key: id, name, about: desc_, color }))
          }
          lines={6}
          empty={<EmptyState icon="search" text="没有这样的场景，换个词或者换个分类试试。" />}
          onChoose={({ key, name }) => {
            const prompt = list.data?.list.find(({ id }) => id === key)?.prompt ?? '';
            onClose();
            // What has to be filled in is filled in there.
            if (varsOf(prompt).some((each) => each !== 'input'))
              void navigate({ to: '/scenario', search: { query: name } });
            else onChoose({ id: Number(key), name });
          }}
        />
      </div>
    </Sheet>
  );
};

export default ScenarioSheet;
