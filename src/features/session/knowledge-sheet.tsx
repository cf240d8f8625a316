import { useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { limits } from '#contract/limits.ts';
import { StartList } from './start-list.tsx';
import type { StartChoice } from './use-start.ts';
import css from './start-sheets.module.css';

type Chosen = StartChoice['knowledge'];

/** Texts that the answers of the next session shall rest on; several may be chosen. */
const KnowledgeSheet = ({
  open,
  chosen,
  onClose,
  onChoose,
}: {
  open: boolean;
  chosen: Chosen;
  onClose: () => void;
  onChoose: (knowledge: Chosen) => void;
}) => {
  const list = useCall('embeddingList', {});
  const turn = (key: string, name: string) => {
    const others = chosen.filter((each) => each.key !== key);
    if (others.length === chosen.length && chosen.length >= limits.bases) {
      toast(`一次最多问 ${limits.bases} 个知识库`, 'error');
      return;
    }
    onChoose(others.length === chosen.length ? [...chosen, { key, name }] : others);
  };
  return (
    <Sheet popover="panel" open={open} onClose={onClose} title="选择知识库">
      <div className={css.startSheet}>
        <p className={css.startNote}>回答会先在知识库里查找，并注明出处。可以一次选几个。</p>
        <StartList
          query={list}
          items={({ list }) => list.map(({ key, name, desc }) => ({ key, name, about: desc }))}
          lines={3}
          chosen={chosen.map(({ key }) => key)}
          empty={
            <EmptyPlace
              drawing="lighthouse"
              text="还没有可以提问的知识库。上传几个文件，就能向它们提问。"
            />
          }
          onChoose={({ key, name }) => turn(String(key), name)}
        />
        <ButtonLink to="/train" onClick={onClose}>
          新建知识库
        </ButtonLink>
        <Button kind={chosen.length === 0 ? 'plain' : 'primary'} onClick={onClose}>
          {chosen.length === 0 ? '不用知识库' : `用这 ${chosen.length} 个`}
        </Button>
      </div>
    </Sheet>
  );
};

export default KnowledgeSheet;
