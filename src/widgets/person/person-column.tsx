import { Link } from '@tanstack/react-router';
import type { Column } from '#src/ui/table/data-table.tsx';

/** Whose a row is; leads managers to that person. */
export const personColumn: Column<{ user_id: number; user_name: string }> = {
  key: 'user',
  title: '用户',
  value: (row) => row.user_name,
  role: 'plain',
  render: (row) => (
    <Link to="/manager/user" search={{ user_id: row.user_id, person: row.user_id }}>
      {row.user_name}
    </Link>
  ),
};
