import { Chip } from '#src/ui/chip.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { useTableSearch } from '#src/ui/table/use-table-search.ts';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { getRouteApi } from '@tanstack/react-router';
import { LocalShelf } from './local-shelf.tsx';
import { ManageModels } from './manage-models.tsx';
import { ManageServices } from './manage-services.tsx';
import { PeopleGroups } from './people-groups.tsx';
import css from './manage-model.module.css';

const route = getRouteApi('/manager/model');

/** Models with their prices, and the services that have them. */
export const ManageModelScreen = () => {
  const { tab = 'services', ...search } = route.useSearch();
  const show = useTableSearch();
  return (
    <ManagePage
      title="模型与服务"
      acts={
        <ButtonLink kind="primary" size="small" to="/manager/start">
          接入服务
        </ButtonLink>
      }
    >
      <div className={css.chips} role="group" aria-label="看什么">
        {(
          [
            ['services', '服务'],
            ['models', '模型'],
            ['groups', '用户组'],
            ['local', '本机模型'],
          ] as const
        ).map(([key, label]) => (
          <Chip key={key} aria-pressed={tab === key} onClick={() => show({ tab: key })}>
            {label}
          </Chip>
        ))}
      </div>
      {tab === 'services' ? (
        <ManageServices />
      ) : tab === 'local' ? (
        <LocalShelf />
      ) : tab === 'groups' ? (
        <PeopleGroups />
      ) : (
        <ManageModels search={search} />
      )}
    </ManagePage>
  );
};
