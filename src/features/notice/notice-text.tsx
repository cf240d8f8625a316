import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { ByManagers, Navigate } from '#src/widgets/markdown/navigate.ts';
import { useNavigate } from '@tanstack/react-router';

/** What a notice says; its links lead to our own pages, too. */
export const NoticeText = ({
  text,
  onFollow,
}: {
  /** Markdown. */
  text: string;
  /** A link of ours was pressed. */
  onFollow?: () => void;
}) => {
  const navigate = useNavigate();
  const follow = (href: string) => {
    onFollow?.();
    void navigate({ href });
  };
  return (
    <ByManagers value>
      <Navigate value={follow}>
        <Markdown text={text} />
      </Navigate>
    </ByManagers>
  );
};
