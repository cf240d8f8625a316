import { useCall } from '@/platform/call-query.ts';
import { EmptyState } from '@/ui/empty-state.tsx';
import { Sheet } from '@/ui/sheet.tsx';
import { StartList } from './start-list.tsx';
import css from './start-sheets.module.css';

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
  const list = useCall('embeddingList', {});
  return (
    <Sheet open={open} onClose={onClose} title="选择知识库">
      <div className={css.startSheet}>
        <p className={css.startNote}>回答会先在知识库里查找，再根据找到的内容来写。</p>
        <StartList
          query={list}
          items={({ list }) => list.map(({ key, name, desc }) => ({ key, name, about: desc }))}
          lines={3}
          empty={<EmptyState icon="help" text="现在没有可以提问的知识库。" />}
          onChoose={({ key, name }) => {
            onChoose({ key: String(key), name });
            onClose();
          }}
        />
      </div>
    </Sheet>
  );
};

export default KnowledgeSheet;
