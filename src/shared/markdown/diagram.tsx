import { CodeBox } from './code-box.tsx';

export const Diagram = ({ source }: { source: string }) => (
  <CodeBox pieces={[source]} language="mermaid" open={false} />
);
