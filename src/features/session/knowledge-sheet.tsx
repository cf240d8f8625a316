import { api } from '@/shared/api.ts';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { LoadFailed } from '@/shared/ui/load-failed.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { Skeleton } from '@/shared/ui/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import './start-sheets.css';

/** Texts that the answers of the next session shall rest on; one is chosen. */
const KnowledgeSheet = ({
  open,
  onClose,
  onChoose,
}: {
  open: boolean;
  onClose: () => void;
  onChoose: (knowledge: { key: string; name: string }) => void;
}) => {
  const list = useQuery({
    queryKey: ['embeddingList'],
    queryFn: ({ signal }) => api.embeddingList({}, { signal, quiet: true }),
  });
  return (
    <Sheet open={open} onClose={onClose} title="选择知识库">
      <div className="start-sheet">
        <p className="start-note">回答会先在知识库里查找，再根据找到的内容来写。</p>
        {list.isPending && <Skeleton lines={3} />}
        {list.isError && !list.data && (
          <LoadFailed
            error={list.error}
            busy={list.isFetching}
            onRetry={() => void list.refetch()}
          />
        )}
        {list.data?.list.length === 0 && (
          <EmptyState icon="help" text="现在没有可以提问的知识库。" />
        )}
        <ul className="start-list">
          {list.data?.list.map((each) => (
            <li key={each.key}>
              <button
                type="button"
                className="start-item"
                onClick={() => {
                  onChoose({ key: each.key, name: each.name });
                  onClose();
                }}
              >
                <span className="start-words">
                  <strong>{each.name}</strong>
                  <small>{each.desc}</small>
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Sheet>
  );
};

export default KnowledgeSheet;
