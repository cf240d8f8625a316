import { memo, useEffect, useState, useSyncExternalStore } from 'react';
import { diagramIsHeavy } from '#common/markdown/bounds.ts';
import { Button } from '#src/ui/button.tsx';
import { CodeBox } from './code-box.tsx';
import type { Draw, Image } from './diagram-drawing.ts';
import { lazyChunk, whenLoaded } from '#src/platform/lazy-chunk.ts';
import css from './markdown.module.css';

const load = lazyChunk(async () => (await import('./diagram-drawing.ts')).loadDrawing());

const onTheme = (listener: () => void) => {
  const watcher = new MutationObserver(listener);
  watcher.observe(document.documentElement, { attributeFilter: ['data-dark'] });
  return () => watcher.disconnect();
};
const isDark = () => document.documentElement.dataset['dark'] === '1';

/**
 * A Mermaid drawing, shown as an image: whatever is in it, nothing of it runs. Else its source. A
 * large one is drawn when its reader asks for it: the page stands still meanwhile.
 */
export const Diagram = memo(function Diagram({ source }: { source: string }) {
  const dark = useSyncExternalStore(onTheme, isDark, () => false);
  const [image, setImage] = useState<Image | null>(null);
  const [failed, setFailed] = useState(false);
  const [wanted, setWanted] = useState(!diagramIsHeavy(source));
  useEffect(() => {
    if (!wanted) return undefined;
    let gone = false;
    let url = '';
    const show = async (draw: Draw) => {
      const made = await draw(source, dark);
      url = made.url;
      if (gone) URL.revokeObjectURL(url);
      else setImage(made);
    };
    // Not a drawing that Mermaid understands: the source is shown.
    const cancel = whenLoaded(load, (draw) => void show(draw).catch(() => setFailed(true)));
    return () => {
      gone = true;
      cancel();
      if (url !== '') URL.revokeObjectURL(url);
    };
  }, [source, dark, wanted]);
  if (!image)
    return (
      <div className={css.diagramWaits} data-drawing={(wanted && !failed) || undefined}>
        <CodeBox pieces={[source]} language="mermaid" open={false} />
        {!wanted && (
          <p className={css.diagramAsks}>
            <Button size="small" onClick={() => setWanted(true)}>
              画成图
            </Button>
            <small>图很大，画的时候页面会停一会儿</small>
          </p>
        )}
      </div>
    );
  return (
    <div className={css.diagram} data-diagram>
      <img src={image.url} width={image.width} height={image.height} alt="流程图" />
    </div>
  );
});
