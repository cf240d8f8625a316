import { memo, useEffect, useState } from 'react';
import { CodeBox } from './code-box.tsx';
import type { Picture } from './diagram-drawing.ts';
import { lazyChunk, whenLoaded } from './lazy-chunk.ts';

const load = lazyChunk(async () => (await import('./diagram-drawing.ts')).loadDrawing());

/** A Mermaid drawing, shown as a picture: whatever is in it, nothing of it runs. Else its source. */
export const Diagram = memo(function Diagram({ source }: { source: string }) {
  const [picture, setPicture] = useState<Picture | null>(null);
  useEffect(() => {
    let gone = false;
    let url = '';
    const show = async (draw: (text: string) => Promise<Picture>) => {
      const made = await draw(source);
      url = made.url;
      if (gone) URL.revokeObjectURL(url);
      else setPicture(made);
    };
    // Not a drawing that Mermaid understands: the source is shown.
    const cancel = whenLoaded(load, (draw) => void show(draw).catch(() => {}));
    return () => {
      gone = true;
      cancel();
      if (url !== '') URL.revokeObjectURL(url);
    };
  }, [source]);
  if (!picture) return <CodeBox pieces={[source]} language="mermaid" open={false} />;
  return (
    <div className="diagram">
      <img src={picture.url} width={picture.width} height={picture.height} alt="流程图" />
    </div>
  );
});
