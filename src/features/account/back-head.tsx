import { Icon } from '@/shared/ui/icon.tsx';
import { Link } from '@tanstack/react-router';

export const BackHead = ({ title }: { title: string }) => (
  <header className="page-head">
    <Link to="/account" className="button button-ghost button-icon" aria-label="返回我的">
      <Icon name="back" size={24} />
    </Link>
    <h1>{title}</h1>
  </header>
);
