import { useTableSearch } from '@/ui/table/use-table-search.ts';
import { ManagePage } from '@/ui/manage-page.tsx';
import { getRouteApi, Link } from '@tanstack/react-router';
import { LocalShelf } from './local-shelf.tsx';
import { ManageModels } from './manage-models.tsx';
import { ManageServices } from './manage-services.tsx';
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
        <Link className="button button-small button-primary" to="/manager/start">
          接入服务
        </Link>
      }
    >
      <div className={css.chips} role="group" aria-label="看什么">
        {(
          [
            ['services', '服务'],
            ['models', '模型'],
            ['local', '本机模型'],
          ] as const
        ).map(([key, label]) => (
          <button
            key={key}
            type="button"
            className="chip"
            aria-pressed={tab === key}
            onClick={() => show({ tab: key })}
          >
            {label}
          </button>
        ))}
      </div>
      {tab === 'services' ? (
        <ManageServices />
      ) : tab === 'local' ? (
        <LocalShelf />
      ) : (
        <ManageModels search={search} />
      )}
    </ManagePage>
  );
};
